/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/counter: which counters need a histogram, and what they count without one. */
#include "tests/unit/counter_fixture.h"

#define SLOTS 1u /* besides slot 0 */

static struct fixture f;
static struct counter_owner owners[SLOTS + 1];

static void begin(void)
{
	fixture_open(&f, SEGMENT_SMALL);
	counted_owners(&f.s, owners, SLOTS);
}

static void end(void)
{
	fixture_close(&f);
}

static void take(uint32_t slot, uint32_t site, uint64_t size)
{
	counter_alloc(&f.s, &owners[slot], site, size);
}

static void give(uint32_t slot, uint32_t site, uint64_t size, uint64_t life_ticks)
{
	struct counter_freed e = { .size = size, .life_ticks = life_ticks };

	counter_free(&f.s, &owners[slot], site, &e);
}

/* As long as all blocks are of one bucket and short-lived, a counter is all there is; and as long
 * as there are few of each. */
TEST(histograms_where_needed)
{
	struct counted site;

	begin();
	for (int i = 0; i < 10; i++) {
		take(1, 1, 100);
		give(1, 1, 128, 0);
	}
	CHECK_INT(counted_site(&f.s, 1).hists, 0);
	for (int i = 0; i < 15; i++) {
		take(1, 1, 129);
		give(1, 1, 129, 0);
	}
	for (int i = 0; i < 5; i++) {
		take(1, 1, 100);
		give(1, 1, 100, 16);
	}
	site = counted_site(&f.s, 1);
	CHECK_INT(site.hists, 0);
	CHECK_INT(f.s.header->hists, 2);
	CHECK_INT(site.size_allocs[4], 15);
	CHECK_INT(site.size_frees[4], 15);
	CHECK_INT(site.size_allocs[5], 15);
	CHECK_INT(site.size_frees[5], 15);
	CHECK_INT(site.life[0], 25);
	CHECK_INT(site.life[3], 5);
	take(1, 1, 129);
	site = counted_site(&f.s, 1);
	CHECK_INT(site.hists, 1);
	CHECK_INT(f.s.header->hists, 3);
	CHECK_INT(site.size_allocs[4], 15);
	CHECK_INT(site.size_allocs[5], 16);
	CHECK_INT(site.size_frees[5], 15);
	CHECK_INT(site.life[3], 5);
	give(1, 1, 129, 16);
	site = counted_site(&f.s, 1);
	CHECK_INT(site.size_frees[5], 16);
	CHECK_INT(site.life[3], 6);
	end();
}

/* Each way to a histogram: too many blocks of a second size, of the first one when a second comes,
 * a size or a lifetime beyond the counter's own buckets, too many lifetimes. */
TEST(ways_to_a_histogram)
{
	struct counted site;

	begin();
	for (int i = 0; i < 16; i++)
		take(1, 1, 100);
	take(1, 1, 8);
	site = counted_site(&f.s, 1);
	CHECK_INT(site.hists, 1);
	CHECK_INT(site.size_allocs[4], 16);
	CHECK_INT(site.size_allocs[0], 1);

	take(1, 2, 8);
	take(1, 2, 8ull << 16);
	site = counted_site(&f.s, 2);
	CHECK_INT(site.hists, 1);
	CHECK_INT(site.size_allocs[0], 1);
	CHECK_INT(site.size_allocs[16], 1);

	for (int i = 0; i < 16; i++) {
		take(1, 3, 8);
		give(1, 3, 8, 1);
		CHECK_INT(counted_site(&f.s, 3).hists, i == 15);
	}
	site = counted_site(&f.s, 3);
	CHECK_INT(site.life[0], 0);
	CHECK_INT(site.life[1], 16);
	CHECK_INT(site.size_frees[0], 16);
	give(1, 3, 9, 0);
	site = counted_site(&f.s, 3);
	CHECK_INT(site.size_allocs[0], 16);
	CHECK_INT(site.size_frees[0], 16);
	CHECK_INT(site.size_frees[1], 1);
	CHECK_INT(site.life[0], 1);

	/* Lifetimes need one first, then the few sizes move there. */
	take(1, 4, 8);
	take(1, 4, 9);
	for (int i = 0; i < 16; i++)
		give(1, 4, 9, 5);
	site = counted_site(&f.s, 4);
	CHECK_INT(site.hists, 1);
	CHECK_INT(site.size_allocs[0], 1);
	CHECK_INT(site.size_allocs[1], 1);
	CHECK_INT(site.size_frees[1], 16);
	CHECK_INT(site.life[2], 16);
	end();
}

TEST(histograms_used_up)
{
	struct counted site;

	begin();
	f.s.header->hists =
		(uint32_t)segment_capacity(&f.s, HT_REGION_HISTS, sizeof(struct ht_hist));
	for (uint32_t slot = 0; slot <= 1; slot++)
		for (uint32_t i = 0; i < 160; i++) {
			take(slot, 1, 1u << i % 10);
			give(slot, 1, 1u << i % 10, i % 10);
		}
	site = counted_site(&f.s, 1);
	CHECK_INT(site.allocs, 320);
	CHECK_INT(site.frees, 320);
	CHECK_INT(site.hists, 0);
	CHECK_INT(f.s.header->hists_refused, 2); /* asked for once each */
	CHECK_INT(counted_program(&f.s).life[0], 32);
	end();
}

int main(void)
{
	RUN(histograms_where_needed);
	RUN(ways_to_a_histogram);
	RUN(histograms_used_up);
	return check_end();
}
