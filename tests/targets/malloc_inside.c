/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with malloc of its own, some of whose blocks come from code that does not call it, as
 * where a compiler has inlined it. A block's memory goes to the next one. Nothing is freed twice.
 */
#include <stddef.h>

#define BLOCK_BYTES 128u

static char pool[1u << 16] __attribute__((aligned(16)));
static size_t used;
static void *last; /* freed */

void *malloc(size_t size);
void free(void *p);

static inline __attribute__((always_inline)) void *block_take(void)
{
	void *p = last;

	last = NULL;
	if (!p && used < sizeof(pool)) {
		p = pool + used;
		used += BLOCK_BYTES;
	}
	return p;
}

__attribute__((noinline)) void *malloc(size_t size)
{
	return size <= BLOCK_BYTES ? block_take() : NULL;
}

__attribute__((noinline)) void free(void *p)
{
	last = p;
}

int main(void)
{
	for (int i = 0; i < 10; i++) {
		free(malloc(100));
		free(block_take());
	}
	return 0;
}
