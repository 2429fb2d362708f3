/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of mapped memory: threads that pass an address on, while another holds the lock, so
 * that calls are queued. The kernel is one word: who gets the range once it was unmapped.
 */
#include "shm/mappings.h"
#include "shm/mappings_tree.h"
#include "tests/model/model.h"

#define RANGE 0x100000ull
#define OTHER 0x200000ull
#define THIRD 0x300000ull
#define BYTES 0x1000ull

static struct segment segment;
static uint64_t *kernel; /* 1: the range is free again */
static bool got; /* a thread was given it */

static void enter(uint64_t start, uint32_t site)
{
	struct mappings_block b = { start, start + BYTES, 1, site, HT_MAPPING_MMAP, 0 };

	mappings_enter(&segment, &b);
}

static struct mappings_taken take(uint64_t start)
{
	return mappings_take(&segment, start, start + BYTES);
}

static void setup(void)
{
	model_segment(&segment, 1, 1);
	segment.header->mapped = segment.header->mappings = 1;
	segment.header->sites = 4;
	kernel = model_shared(8);
	enter(RANGE, 1);
}

static void begin(void)
{
	got = false;
}

/* ---- what threads do ---- */

static void unmap_range(void)
{
	struct mappings_taken t = take(RANGE);

	ht_store_release_64(kernel, 1);
	mappings_gone(&segment, &t);
}

/* The kernel gives it what the other has unmapped, if that was before. */
static void map_range(void)
{
	uint64_t free = 1;

	if (!ht_cas_acquire_64(kernel, &free, 0))
		return;
	got = true;
	enter(RANGE, 2);
}

static void map_other(void)
{
	enter(OTHER, 3);
}

static void fail_to_unmap(void)
{
	struct mappings_taken t = take(RANGE);

	mappings_put_back(&segment, &t);
}

static void map_and_unmap_third(void)
{
	struct mappings_taken t;

	enter(THIRD, 3);
	t = take(THIRD);
	mappings_gone(&segment, &t);
}

/* A viewer, between two equal even numbers. */
static void look(void)
{
	const struct ht_header *h = segment.header;
	uint64_t before = ht_load_acquire_64(&h->mapping_changes), maps, bytes;

	maps = ht_load_relaxed_64(&h->maps);
	bytes = ht_load_relaxed_64(&h->map_bytes);
	ht_fence_acquire();
	if (before % 2 == 0 && ht_load_relaxed_64(&h->mapping_changes) == before)
		model_require(bytes == maps * BYTES, "counts between two changes agree");
}

/* ---- what must be so then ---- */

static uint32_t site_at(uint64_t start)
{
	uint32_t found = mappings_tree_floor(&segment, start);
	const struct ht_mapping *e = found ? mappings_tree_at(&segment, found) : NULL;

	return e && e->start == start ? e->site : 0;
}

static void end_with(uint64_t maps, uint64_t unmaps)
{
	const struct ht_header *h = segment.header;

	model_require(h->mapping_lock == 0, "the lock is free");
	model_require(h->mapping_queue == 0, "nothing is left in the queue");
	model_require(h->mapping_changes % 2 == 0, "no change is unfinished");
	model_require(h->maps == maps && h->unmaps == unmaps, "every call is counted once");
	model_require(h->map_bytes == maps * BYTES && h->unmap_bytes == unmaps * BYTES, "bytes");
	model_require(h->unknown_unmap_bytes + h->missed_unmap_bytes + h->untracked_maps == 0,
		"nothing is unknown, missed or lost");
}

static void end_passed(void)
{
	end_with(2 + got, 1);
	model_require(site_at(RANGE) == (got ? 2 : 0), "the range is whose it is");
	model_require(site_at(OTHER) == 3, "the other one is in");
}

static void end_failed(void)
{
	end_with(3, 1);
	model_require(site_at(RANGE) == 1, "the range is as it was");
	model_require(site_at(OTHER) == 3 && site_at(THIRD) == 0, "the others");
}

static void end_two(void)
{
	end_with(1 + got, 1);
	model_require(site_at(RANGE) == (got ? 2 : 0), "the range is whose it is");
}

int main(void)
{
	static const struct model_scenario scenarios[] = {
		{ .name = "an address passes from one thread to another",
			.setup = setup,
			.begin = begin,
			.thread = { unmap_range, map_range },
			.end = end_two,
			.deviations = 4 },
		{ .name = "the same, while a third one maps",
			.setup = setup,
			.begin = begin,
			.thread = { unmap_range, map_range, map_other },
			.end = end_passed,
			.deviations = 3 },
		{ .name = "a call fails, while others map and unmap",
			.setup = setup,
			.thread = { fail_to_unmap, map_other, map_and_unmap_third },
			.end = end_failed,
			.deviations = 2 },
		{ .name = "a viewer reads",
			.setup = setup,
			.thread = { map_other, map_and_unmap_third, look },
			.deviations = 2,
			.observers = 4 },
	};

	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
