/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the table of mappings notes of memory that a forked child had from its parent. */
#include "shm/mappings.h"
#include "shm/stack.h"
#include "tests/unit/shm_fixture.h"

#define PAGE 4096ull
#define BASE 0x7f0000000000ull

static uint32_t site;

static void site_make(const struct segment *s)
{
	uint64_t pc = 0x1000;
	uint32_t module = 0;
	struct stack_trace t = { HT_FN_MMAP, 1, false, &pc, &module, NULL, 0 };

	site = stack_intern(s, &t);
	CHECK(site != 0);
}

static uint64_t at_page(uint64_t page)
{
	return BASE + page * PAGE;
}

static bool enter(const struct segment *s, uint64_t start, uint64_t end, uint32_t at)
{
	struct mappings_block b = { start, end, 7, at, HT_MAPPING_MMAP, 0 };

	mappings_enter(s, &b);
	return s->header->untracked_maps == 0;
}

static void unmap(const struct segment *s, uint64_t start, uint64_t end)
{
	struct mappings_taken t = mappings_take(s, start, end);

	mappings_gone(s, &t);
}

static void check_noted(const struct segment *s, uint32_t i, uint64_t start, uint64_t end)
{
	CHECK_INT(s->header->unmapped[i].start, start);
	CHECK_INT(s->header->unmapped[i].end, end);
}

/* What a forked child unmaps and has not mapped, it had from its parent. */
TEST(noted)
{
	struct fixture f;
	struct mappings_taken t;

	fixture_open(&f, SEGMENT_SMALL);
	site_make(&f.s);
	unmap(&f.s, at_page(90), at_page(91));
	CHECK_INT(f.s.header->unmapped_used, 0); /* no child */
	f.s.header->forked = 1;
	CHECK(enter(&f.s, at_page(0), at_page(4), site));
	unmap(&f.s, at_page(0), at_page(4));
	CHECK_INT(f.s.header->unmapped_used, 0); /* its own */
	unmap(&f.s, at_page(10), at_page(12));
	check_noted(&f.s, 0, at_page(10), at_page(12));
	unmap(&f.s, at_page(12), at_page(14));
	unmap(&f.s, at_page(8), at_page(10));
	unmap(&f.s, at_page(9), at_page(13));
	CHECK_INT(f.s.header->unmapped_used, 1);
	check_noted(&f.s, 0, at_page(8), at_page(14));
	/* In part its own; and for what MAP_FIXED puts there, which asks for no bytes. */
	CHECK(enter(&f.s, at_page(20), at_page(22), site));
	unmap(&f.s, at_page(20), at_page(24));
	check_noted(&f.s, 1, at_page(20), at_page(24));
	t = mappings_take(&f.s, at_page(30), at_page(31));
	t.asked = 0;
	mappings_gone(&f.s, &t);
	check_noted(&f.s, 2, at_page(30), at_page(31));
	/* A call that failed. */
	t = mappings_take(&f.s, at_page(40), at_page(41));
	mappings_put_back(&f.s, &t);
	CHECK_INT(f.s.header->unmapped_used, 3);
	fixture_close(&f);
}

TEST(noted_up_to_a_limit)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	site_make(&f.s);
	f.s.header->forked = 1;
	for (uint32_t i = 0; i < HT_UNMAPPED_MAX; i++)
		unmap(&f.s, at_page(2 * i), at_page(2 * i + 1));
	CHECK_INT(f.s.header->unmapped_used, HT_UNMAPPED_MAX);
	unmap(&f.s, at_page(0), at_page(1));
	CHECK_INT(f.s.header->unmapped_used, HT_UNMAPPED_MAX); /* it is in one */
	unmap(&f.s, at_page(1000), at_page(1001));
	CHECK_INT(f.s.header->unmapped_used, UINT32_MAX);
	unmap(&f.s, at_page(2000), at_page(2001));
	CHECK_INT(f.s.header->unmapped_used, UINT32_MAX);
	fixture_close(&f);
}

/* A call that had to be queued. */
TEST(noted_when_queued)
{
	struct fixture f;
	struct mappings_taken t;

	fixture_open(&f, SEGMENT_SMALL);
	site_make(&f.s);
	f.s.header->forked = 1;
	f.s.header->mapping_lock = 1;
	t = mappings_take(&f.s, at_page(5), at_page(7));
	CHECK(t.queued != 0);
	mappings_gone(&f.s, &t);
	CHECK_INT(f.s.header->unmapped_used, 0);
	f.s.header->mapping_lock = 0;
	CHECK(enter(&f.s, at_page(100), at_page(101), site));
	check_noted(&f.s, 0, at_page(5), at_page(7));
	fixture_close(&f);
}

int main(void)
{
	RUN(noted);
	RUN(noted_up_to_a_limit);
	RUN(noted_when_queued);
	return check_end();
}
