/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: pieces of memory handed out from larger blocks, by an obstack and by a pool of the
 * program's own. What counts is the blocks that the pools ask for.
 */
#include <obstack.h>
#include "tests/targets/truth.h"

enum { CHUNK, POOL };

#define PIECES 5000u

struct chunk_head {
	size_t bytes;
	char padding[16 - sizeof(size_t)];
};

static NOINLINE void *site_chunk(size_t n)
{
	struct chunk_head *h = truth_got(CHUNK, malloc(sizeof(*h) + n), sizeof(*h) + n);

	h->bytes = sizeof(*h) + n;
	return h + 1;
}

static void chunk_free(void *p)
{
	struct chunk_head *h = (struct chunk_head *)p - 1;

	truth_gone(CHUNK, h->bytes);
	free(h);
}

#define obstack_chunk_alloc site_chunk
#define obstack_chunk_free  chunk_free

static NOINLINE char *site_pool(size_t n)
{
	return truth_got(POOL, malloc(n), n);
}

int main(void)
{
	struct obstack stack;
	char *pool = site_pool(1 << 20), *mark = NULL;
	size_t used = 0;

	truth_name(CHUNK, "site_chunk", "malloc");
	truth_name(POOL, "site_pool", "malloc");
	obstack_init(&stack);
	for (unsigned i = 0; i < PIECES; i++) {
		char *piece = obstack_alloc(&stack, (int)(1 + i % 300));

		memset(piece, 'p', 1 + i % 300);
		memset(pool + used, 'p', 1 + i % 200);
		used += 1 + i % 200;
		if (i == PIECES / 2)
			mark = piece;
	}
	obstack_free(&stack, mark); /* and all after it */
	truth_text(1, "done\n");
	return 0;
}
