/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bootstrap arena, and finding what comes next. The file itself is compiled in. */
#include "preload/next_allocator.c"

#include "preload/symbols.c"

#include <pthread.h>
#include <stdlib.h>
#include "tests/check.h"

static void begin(void)
{
	arena_used = 0;
	memset(next_arena, 0, sizeof(next_arena));
}

TEST(blocks)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 100, 4096 };
	char *last = next_arena;

	begin();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *p = next_arena_alloc(sizes[i], 1);

		CHECK(p && next_is_arena(p));
		CHECK_INT((uintptr_t)p % 16, 0);
		CHECK_INT(next_arena_size(p), sizes[i]);
		CHECK(p >= last + ARENA_HEADER); /* its header lies in no block */
		for (size_t k = 0; k < sizes[i]; k++)
			CHECK(p[k] == 0);
		memset(p, 0xff, sizes[i]);
		last = p + sizes[i];
	}
}

TEST(alignments)
{
	begin();
	for (size_t align = 1; align <= NEXT_ARENA_BYTES / 8; align *= 2) {
		char *p = next_arena_alloc(1, align);

		CHECK(p != NULL);
		CHECK_INT((uintptr_t)(p - next_arena) % align, 0);
		CHECK_INT(next_arena_size(p), 1);
	}
	/* What the arena itself is aligned to holds for the addresses too. */
	CHECK_INT((uintptr_t)next_arena_alloc(1, 64) % 64, 0);
}

TEST(too_much)
{
	begin();
	CHECK(!next_arena_alloc(NEXT_ARENA_BYTES, 16)); /* its header has no room */
	CHECK(!next_arena_alloc(NEXT_ARENA_BYTES + 1, 16));
	CHECK(!next_arena_alloc(SIZE_MAX, 16));
	CHECK(!next_arena_alloc(SIZE_MAX - 15, 16));
	CHECK(!next_arena_alloc(1, NEXT_ARENA_BYTES));
	CHECK(!next_arena_alloc(1, (size_t)1 << 63));
	CHECK_INT(arena_used, 0); /* refusals take nothing */
	CHECK(next_arena_alloc(NEXT_ARENA_BYTES - ARENA_HEADER, 16) != NULL);
	CHECK(!next_arena_alloc(0, 16));
}

TEST(used_up)
{
	size_t count = 0;

	begin();
	while (next_arena_alloc(100, 16))
		count++;
	CHECK_INT(count, NEXT_ARENA_BYTES / (ARENA_HEADER + 112));
	CHECK(!next_arena_alloc(100, 16));
}

TEST(whose_block)
{
	char here;

	CHECK(next_is_arena(next_arena));
	CHECK(next_is_arena(next_arena + NEXT_ARENA_BYTES - 1));
	CHECK(!next_is_arena(next_arena + NEXT_ARENA_BYTES));
	CHECK(!next_is_arena((const char *)((uintptr_t)next_arena - 1)));
	CHECK(!next_is_arena(&here) && !next_is_arena(NULL));
}

#define TAKERS 4
#define TAKES  500

static void *take(void *blocks)
{
	char **p = blocks;

	for (int i = 0; i < TAKES; i++) {
		p[i] = next_arena_alloc(24, 16);
		if (p[i])
			memset(p[i], (int)(uintptr_t)p % 251 + 1, 24);
	}
	return NULL;
}

/* No two threads get the same bytes. */
TEST(threads)
{
	static char *blocks[TAKERS][TAKES];
	pthread_t threads[TAKERS];
	unsigned wrong = 0;

	begin();
	for (int i = 0; i < TAKERS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, take, blocks[i]), 0);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TAKERS; i++)
		for (int k = 0; k < TAKES; k++) {
			char *p = blocks[i][k], mark = (char)((int)(uintptr_t)blocks[i] % 251 + 1);

			wrong += !p || p[0] != mark || p[23] != mark || next_arena_size(p) != 24;
		}
	CHECK_INT(wrong, 0);
	CHECK_INT(arena_used, TAKERS * TAKES * 48);
}

TEST(found)
{
	void *p;

	CHECK(next_available());
	CHECK(next_mode == NEXT_EXACT && next.malloc && next.calloc && next.realloc && next.free);
	CHECK(next.posix_memalign && next.aligned_alloc && next.memalign);
	p = next.malloc(10);
	CHECK(p && !next_is_arena(p));
	p = next.realloc(p, 1000);
	CHECK(p != NULL);
	next.free(p);
}

/* While one call is at it, another is told to use the arena, and does not wait. */
TEST(found_by_another)
{
	next_mode = NEXT_UNKNOWN;
	finding = 1;
	CHECK(!next_available());
	finding = 0;
	CHECK(next_available());
}

int main(void)
{
	RUN(blocks);
	RUN(alignments);
	RUN(too_much);
	RUN(used_up);
	RUN(whose_block);
	RUN(threads);
	RUN(found);
	RUN(found_by_another);
	return check_end();
}
