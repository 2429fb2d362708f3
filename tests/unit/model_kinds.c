/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of memory in snapshots (src/model/kinds.h). */
#include "src/model/kinds.h"

#include <stdlib.h>
#include "tests/check.h"

static struct snap_site heap[] = { { .id = 1, .live_bytes = 10, .live_blocks = 1, .allocs = 1 } };
static struct snap_site mapped[] = {
	{ .id = 2,
		.kind = SNAP_MMAP,
		.live_bytes = 4096,
		.live_blocks = 1,
		.allocs = 2,
		.frees = 1 },
	{ .id = 3,
		.kind = SNAP_POOL,
		.live_bytes = 7,
		.live_blocks = 2,
		.allocs = 5,
		.alloc_bytes = 20 },
	{ .id = 4, .kind = SNAP_BRK, .live_bytes = 8192, .live_blocks = 1, .allocs = 1 },
};

static struct snapshot *make(size_t nmapped)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	s->refs = 1;
	s->sites = heap;
	s->nsites = 1;
	s->mapped = mapped;
	s->nmapped = nmapped;
	s->history_points = 3;
	s->totals = (struct snap_totals){ .live_bytes = 10,
		.live_blocks = 1,
		.allocs = 1,
		.peak_live_bytes = 50,
		.has_mapped = true,
		.mapped_bytes = 12288,
		.mapped_blocks = 2,
		.mapped_peak_bytes = 20000,
		.maps = 3,
		.unmaps = 1,
		.pool_bytes = 7,
		.pool_blocks = 2,
		.pool_peak_bytes = 11 };
	return s;
}

TEST(the_heap_is_the_snapshot_itself)
{
	struct snapshot *s = make(3);

	CHECK(kinds_take(s, KINDS_HEAP) == s);
	CHECK_INT(s->refs, 1);
	snapshot_unref(s);
}

TEST(mapped_memory_without_pools)
{
	struct snapshot *s = kinds_take(make(3), KINDS_MAPPED);

	CHECK_INT(s->nsites, 2);
	CHECK_INT(s->sites[0].id, 2);
	CHECK_INT(s->sites[1].id, 4);
	CHECK_INT(s->totals.live_bytes, 12288);
	CHECK_INT(s->totals.allocs, 3);
	CHECK_INT(s->totals.peak_live_bytes, 20000);
	CHECK_INT(s->history_points, 0);
	CHECK_INT(s->base->totals.live_bytes, 10);
	snapshot_unref(s);
}

TEST(both_are_the_sum)
{
	struct snapshot *s = kinds_take(make(3), KINDS_BOTH);

	CHECK_INT(s->nsites, 3);
	CHECK_INT(s->nmapped, 0);
	CHECK_INT(s->totals.live_bytes, 12298);
	CHECK_INT(s->totals.live_blocks, 3);
	CHECK_INT(s->totals.allocs, 4);
	snapshot_unref(s);
}

TEST(pools_are_for_themselves)
{
	struct snapshot *s = kinds_take(make(3), KINDS_POOL);

	CHECK_INT(s->nsites, 1);
	CHECK_INT(s->totals.live_bytes, 7);
	CHECK_INT(s->totals.live_blocks, 2);
	CHECK_INT(s->totals.free_bytes, 13);
	CHECK_INT(s->totals.peak_live_bytes, 11);
	snapshot_unref(s);
}

TEST(only_what_is_there_comes_next)
{
	struct snapshot *s = make(1);

	CHECK_INT(kinds_next(s, KINDS_HEAP), KINDS_MAPPED);
	CHECK_INT(kinds_next(s, KINDS_BOTH), KINDS_HEAP);
	s->nmapped = 0;
	CHECK_INT(kinds_next(s, KINDS_HEAP), KINDS_HEAP);
	s->nmapped = 3;
	s->totals.has_mapped = false; /* of another moment */
	CHECK_INT(kinds_next(s, KINDS_HEAP), KINDS_HEAP);
	CHECK(kinds_take(s, KINDS_MAPPED) == s);
	s->totals.has_mapped = true;
	s = kinds_take(s, KINDS_MAPPED);
	CHECK_INT(kinds_next(s, KINDS_MAPPED), KINDS_BOTH);
	CHECK_INT(kinds_next(s, KINDS_BOTH), KINDS_POOL);
	snapshot_unref(s);
}

int main(void)
{
	RUN(the_heap_is_the_snapshot_itself);
	RUN(mapped_memory_without_pools);
	RUN(both_are_the_sum);
	RUN(pools_are_for_themselves);
	RUN(only_what_is_there_comes_next);
	return check_end();
}
