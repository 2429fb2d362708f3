/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that is freed all at once: a little takes little, and much takes few chunks. */
#include "src/record/arena.h"
#include "tests/check.h"

#include <stdint.h>
#include <string.h>

TEST(a_little_takes_little)
{
	struct arena a = { 0 };

	CHECK(arena_alloc(&a, 200) != NULL);
	CHECK(a.room <= 2048);
	arena_free(&a);
}

TEST(much_takes_few_chunks)
{
	const struct arena_chunk *chunk = NULL;
	struct arena a = { 0 };
	unsigned chunks = 0;

	for (unsigned i = 0; i < 100000; i++) {
		char *p = arena_alloc(&a, 40);

		CHECK(p && (uintptr_t)p % _Alignof(max_align_t) == 0 && p[0] == 0 && p[39] == 0);
		if (!p)
			break;
		memset(p, 1, 40);
		chunks += a.chunk != chunk;
		chunk = a.chunk;
	}
	CHECK(chunks < 100);
	arena_free(&a);
	CHECK(a.chunk == NULL);
}

TEST(a_large_piece_is_whole)
{
	struct arena a = { 0 };
	char *p = arena_alloc(&a, 1 << 20), *q = arena_alloc(&a, 100);

	CHECK(p && q);
	if (p)
		memset(p, 1, 1 << 20);
	CHECK(q && q[0] == 0 && q[99] == 0);
	CHECK(a.room <= 1 << 16);
	CHECK(arena_alloc(&a, SIZE_MAX) == NULL);
	arena_free(&a);
}

int main(void)
{
	RUN(a_little_takes_little);
	RUN(much_takes_few_chunks);
	RUN(a_large_piece_is_whole);
	return check_end();
}
