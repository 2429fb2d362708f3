/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting sampled blocks: what they stand for is added where one block would be, and taken away to
 * the last byte; their variances are beside their counters.
 */
#include "tests/unit/counter_fixture.h"

#define SLOTS 3u

static struct fixture f;
static struct counter_owner owners[SLOTS + 1];
static const struct poisson_weight weight = { 40, 4000, 170, 99 };

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
	counter_alloc_sampled(&f.s, &owners[slot], site, size, &weight);
}

static void give(uint32_t slot, uint32_t site, uint64_t size, uint64_t life_ticks, bool temporary)
{
	struct counter_freed e = { .size = size, .life_ticks = life_ticks, .temporary = temporary };

	counter_free_sampled(&f.s, &owners[slot], site, &e, &weight);
}

/* The spread of a site over its counters. */
static struct ht_variance spread_of(uint32_t site)
{
	struct ht_variance out = { 0 };

	for (uint32_t i = 0; i < f.s.header->counters; i++) {
		uint64_t at = segment_element(&f.s, HT_REGION_VARIANCES, i, sizeof(out));
		const struct ht_variance *s = segment_at(&f.s, at);

		if (ht_counter_site(counter_at(&f.s, i)->key) != site ||
			commit_reach(&f.s, at) < sizeof(out))
			continue;
		out.blocks += s->blocks;
		out.bytes += s->bytes;
		out.free_blocks += s->free_blocks;
		out.free_bytes += s->free_bytes;
	}
	return out;
}

TEST(a_sampled_block_counts_by_its_weight)
{
	struct counted site;

	begin();
	take(2, 7, 100);
	site = counted_site(&f.s, 7);
	CHECK_INT(site.allocs, 40);
	CHECK_INT(site.alloc_bytes, 4000);
	CHECK_INT(site.live_bytes, 4000);
	CHECK_INT(site.peak, 4000);
	CHECK_INT(site.size_allocs[4], 40); /* 65 to 128: the bucket of the block itself */
	CHECK_INT(counted_program(&f.s).live_bytes, 4000);
	CHECK_INT(thread_at(&f.s, 2)->size[4].alloc_bytes, 4000);
	CHECK_INT(spread_of(7).blocks, 170);
	CHECK_INT(spread_of(7).bytes, 99);
	give(3, 7, 100, 5, true); /* by another thread */
	site = counted_site(&f.s, 7);
	CHECK_INT(site.frees, 40);
	CHECK_INT(site.live_bytes, 0);
	CHECK_INT(site.temporary, 40);
	CHECK_INT(site.size_frees[4], 40);
	CHECK_INT(site.life[2], 40); /* 4 to 15 ticks */
	CHECK_INT(thread_at(&f.s, 3)->life[2], 40);
	CHECK_INT(counted_program(&f.s).live_bytes, 0);
	CHECK_INT(spread_of(7).blocks, 170);
	CHECK_INT(spread_of(7).free_blocks, 170);
	CHECK_INT(spread_of(7).free_bytes, 99);
	end();
}

/* Exact blocks, sampled ones, of several sizes, at one site. */
TEST(all_kinds_at_one_site)
{
	struct counter_freed e = { .size = 8 };
	struct counted site;

	begin();
	counter_alloc(&f.s, &owners[1], 5, 8);
	take(1, 5, 8);
	take(1, 5, 1000);
	counter_alloc(&f.s, &owners[1], 5, 1000);
	give(1, 5, 1000, 0, false);
	counter_free(&f.s, &owners[1], 5, &e);
	site = counted_site(&f.s, 5);
	CHECK_INT(site.allocs, 82);
	CHECK_INT(site.frees, 41);
	CHECK_INT(site.live_bytes, 4000 + 1000);
	CHECK_INT(site.size_allocs[0], 41);
	CHECK_INT(site.size_allocs[7], 41);
	CHECK_INT(site.size_frees[0], 1);
	CHECK_INT(site.size_frees[7], 40);
	CHECK_INT(site.life[0], 41);
	CHECK_INT(spread_of(5).blocks, 2 * 170);
	CHECK_INT(spread_of(5).free_blocks, 170);
	end();
}

/* Threads without a slot, and blocks without a site. */
TEST(shared_counters)
{
	begin();
	take(0, 6, 100);
	take(1, 0, 100);
	take(0, 0, 100);
	give(1, 0, 100, 9, false);
	CHECK_INT(counted_site(&f.s, 6).allocs, 40);
	CHECK_INT(spread_of(6).bytes, 99);
	CHECK_INT(spread_of(0).bytes, 2 * 99);
	CHECK_INT(spread_of(0).free_bytes, 99);
	CHECK_INT(counted_program(&f.s).live_bytes, 2 * 4000);
	end();
}

TEST(a_variance_out_of_all_bounds_stays_there)
{
	const struct poisson_weight huge = { 1, 1, UINT64_MAX - 5, 1 };

	begin();
	for (int i = 0; i < 3; i++)
		counter_alloc_sampled(&f.s, &owners[1], 5, 10, &huge);
	CHECK(spread_of(5).blocks == UINT64_MAX);
	CHECK_INT(spread_of(5).bytes, 3);
	end();
}

TEST(exact_programs_take_no_memory_for_it)
{
	begin();
	counter_alloc(&f.s, &owners[1], 5, 10);
	CHECK(!commit_has(&f.s, f.s.header->region[HT_REGION_VARIANCES].offset));
	end();
}

int main(void)
{
	RUN(a_sampled_block_counts_by_its_weight);
	RUN(all_kinds_at_one_site);
	RUN(shared_counters);
	RUN(a_variance_out_of_all_bounds_stays_there);
	RUN(exact_programs_take_no_memory_for_it);
	return check_end();
}
