/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of src/memory/map_ranges: lists of mappings laid over one another, page by page beside an
 * oracle; and what a forked child has unmapped. */
#include <stdlib.h>

#include "shm/mappings.h"
#include "src/memory/map_ranges.h"
#include "tests/unit/segment_fixture.h"

#define PAGES 64u
#define PAGE  4096ull

/* Ranges of random lengths; each page's site, 0: none. */
static void list_make(struct map_ranges *r, uint32_t *site_of, uint32_t first_site)
{
	uint32_t at = 0, site = first_site;

	r->range = malloc(PAGES * sizeof(*r->range));
	r->count = 0;
	memset(site_of, 0, PAGES * sizeof(*site_of));
	while (r->range && at < PAGES) {
		uint32_t bytes = 1 + (uint32_t)rand() % 9,
			 end = at + bytes < PAGES ? at + bytes : PAGES;

		if (rand() % 2) {
			r->range[r->count++] = (struct map_range){ at * PAGE, end * PAGE, site };
			for (uint32_t i = at; i < end; i++)
				site_of[i] = site;
			site++;
		}
		at = end;
	}
}

/* By address, none empty, none over another; and each page as the oracle says. */
static void list_check(const struct map_ranges *r, const uint32_t *want)
{
	uint32_t got[PAGES] = { 0 };
	uint64_t passed = 0;

	for (size_t i = 0; i < r->count; i++) {
		CHECK(r->range[i].start >= passed && r->range[i].end > r->range[i].start);
		passed = r->range[i].end;
		for (uint64_t p = r->range[i].start / PAGE; p < r->range[i].end / PAGE; p++)
			got[p] = r->range[i].site;
	}
	CHECK(memcmp(got, want, sizeof(got)) == 0);
}

TEST(one_over_another)
{
	uint32_t above_of[PAGES], below_of[PAGES];
	struct map_ranges above, below, all;

	srand(1);
	for (unsigned i = 0; i < 2000; i++) {
		list_make(&above, above_of, 1000);
		list_make(&below, below_of, 1);
		CHECK_INT(map_ranges_merge(&above, &below, &all), 0);
		for (uint32_t p = 0; p < PAGES; p++)
			above_of[p] = above_of[p] ? above_of[p] : below_of[p];
		list_check(&all, above_of);
		map_ranges_free(&above);
		map_ranges_free(&below);
		map_ranges_free(&all);
	}
}

/* In no order, and over one another. */
TEST(what_was_unmapped)
{
	static const struct ht_unmapped gone[] = { { 20 * PAGE, 30 * PAGE }, { 2 * PAGE, 4 * PAGE },
		{ 22 * PAGE, 24 * PAGE }, { 28 * PAGE, 33 * PAGE }, { 5, 5 },
		{ 9 * PAGE, 7 * PAGE } };
	uint32_t want[PAGES] = { 0 };
	struct map_range range[] = { { 0, 10 * PAGE, 1 }, { 19 * PAGE, 40 * PAGE, 2 } };
	struct map_ranges in = { range, 2 }, left;
	struct read_segment *s;
	struct made made;

	made_open(&made, &fixture_identity);
	s = made_read(&made);
	memcpy(made.s.header->unmapped, gone, sizeof(gone));
	made.s.header->unmapped_used = sizeof(gone) / sizeof(gone[0]);
	CHECK_INT(map_ranges_unmapped(s, &in, &left), 0);
	for (uint32_t p = 0; p < 40; p++)
		want[p] = p < 10 ? 1 : p >= 19 ? 2 : 0;
	want[2] = want[3] = 0;
	for (uint32_t p = 20; p < 33; p++)
		want[p] = 0;
	list_check(&left, want);
	map_ranges_free(&left);
	/* If not all is known, nothing is inherited for certain. */
	made.s.header->unmapped_used = UINT32_MAX;
	CHECK_INT(map_ranges_unmapped(s, &in, &left), 0);
	CHECK_INT(left.count, 0);
	map_ranges_free(&left);
	read_close(s);
	made_close(&made);
}

/* A pool's block lies in memory that is something else: a block of malloc's, or a mapping. */
TEST(pools_map_nothing)
{
	const uint64_t at = 0x7f0000000000;
	const struct mappings_block mapped = { at, at + 4 * PAGE, 9, 1, HT_MAPPING_MMAP, 0 },
				    pool = { at + 32 + HT_POOL_SPACE, at + 64 + HT_POOL_SPACE, 9, 1,
					    HT_MAPPING_POOL, 0 };
	struct map_ranges r;
	struct read_segment *s;
	struct made made;

	made_open(&made, &fixture_identity);
	mappings_enter(&made.s, &mapped);
	mappings_enter(&made.s, &pool);
	s = made_read(&made);
	CHECK_INT(map_ranges_read(s, 2, &r), 0);
	CHECK_INT(r.count, 1);
	CHECK(r.range[0].start == at && r.range[0].end == at + 4 * PAGE);
	map_ranges_free(&r);
	read_close(s);
	made_close(&made);
}

int main(void)
{
	RUN(one_over_another);
	RUN(what_was_unmapped);
	RUN(pools_map_nothing);
	return check_end();
}
