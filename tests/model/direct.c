/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directly mapped part of the live table: two stores to one entry that ownership does not order
 * are a race; pieces that two threads make, memory that two threads take, and blocks of the
 * overflow.
 */
#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"
#include "tests/model/model.h"

#define PIECE	0x100000ull /* where a piece begins */
#define A	(PIECE + 0x1010) /* of line 0x40, granule 1: small ones in second[] */
#define B	(A + 48) /* the next block, as close as it gets */
#define SMALL	40u
#define LARGE	60u
#define LONG	1000u
#define TOO_BIG (HT_PAGE_SPAN + 1000u)

static struct segment segment;
static uint64_t *given, *freed;

static struct live_block block(uint64_t addr, uint64_t size, uint32_t version)
{
	return (struct live_block){ .size = size,
		.tick = addr * 3 + version,
		.counter = (uint32_t)(addr & 0xffff) + version };
}

static bool is_block(const struct live_block *got, uint64_t addr, uint64_t size, uint32_t version)
{
	struct live_block want = block(addr, size, version);

	return got->size == want.size && got->tick == want.tick && got->counter == want.counter;
}

static unsigned insert(uint64_t addr, uint64_t size, uint32_t version, struct live_block *old)
{
	struct live_block b = block(addr, size, version);

	return live_insert(&segment, addr, &b, old);
}

static void put(uint64_t addr, uint64_t size, uint32_t version)
{
	struct live_block old[LIVE_MISSED_MAX];

	model_require(insert(addr, size, version, old) == 0, "there is room, and no stale block");
}

static void take(uint64_t addr, uint64_t size, uint32_t version)
{
	struct live_block got = { 0 };

	model_require(live_remove(&segment, addr, &got), "a block that is in can be taken");
	model_require(is_block(&got, addr, size, version), "a block is taken as it was put");
}

static void find(uint64_t addr, uint64_t size, uint32_t version)
{
	struct live_block got = { 0 };

	model_require(live_find(&segment, addr, &got) && is_block(&got, addr, size, version),
		"a block that is in is found as it was put");
}

static void blocks_are(uint64_t count)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(&segment, &p);
	model_require(p.blocks + live_direct_count(&segment) == count, "every block is in once");
	model_require(p.overflow == p.buckets_passed, "no count is left behind");
}

/* ---- setups ---- */

static void setup_empty(void)
{
	model_segment(&segment, 1, 1);
	model_pieces(&segment, 2);
	for (uint32_t i = 0; i < 2; i++) {
		model_one_writer(segment.pieces[i].first, sizeof(segment.pieces[i].first));
		model_one_writer(segment.pieces[i].second, sizeof(segment.pieces[i].second));
	}
	given = model_shared(8);
	freed = model_shared(8);
}

/* Memory for both tables. */
static void setup_populated(void)
{
	setup_empty();
	put(A, SMALL, 1);
	take(A, SMALL, 1);
}

/* A block is there, and a viewer has the page watched. */
static void setup_watched(void)
{
	uint8_t *state;

	setup_populated();
	put(A, SMALL, 1);
	state = segment.pieces[0].state;
	for (uint32_t i = 0; i < HT_PIECE_PAGES; i++)
		state[i] = state[i] ? ht_page_watched(state[i]) : 0;
}

/* ---- neighbours ---- */

static void small_comes_and_goes(void)
{
	put(A, SMALL, 1);
	take(A, SMALL, 1);
	put(A, SMALL, 2);
}

static void small_goes_and_comes(void)
{
	take(A, SMALL, 1);
	put(A, SMALL, 2);
}

static void neighbour_comes_and_goes(void)
{
	put(B, LONG, 1);
	find(B, LONG, 1);
	take(B, LONG, 1);
	put(B, LARGE, 2);
}

static void end_neighbours(void)
{
	find(A, SMALL, 2);
	find(B, LARGE, 2);
	blocks_are(2);
}

static void end_watched(void)
{
	const uint8_t *state = segment.pieces[0].state;

	model_require(state[(A - PIECE) / HT_PAGE_SPAN] == (HT_PAGE_FIRST | HT_PAGE_SECOND),
		"a page that was written is not watched, and has what it had");
	end_neighbours();
}

/* ---- a block changes hands, its address is used again ---- */

static void give_and_reuse(void)
{
	put(A, LONG, 1);
	ht_store_release_64(given, A);
	if (ht_load_acquire_64(freed) != A)
		return;
	put(A, SMALL, 2);
	find(A, SMALL, 2);
}

static void take_and_free(void)
{
	if (ht_load_acquire_64(given) != A)
		return;
	take(A, LONG, 1);
	ht_store_release_64(freed, A);
}

static void end_hands(void)
{
	struct live_block got;

	blocks_are(live_find(&segment, A, &got));
}

/* ---- pieces and memory ---- */

static void put_first(void)
{
	put(A, SMALL, 1);
	find(A, SMALL, 1);
}

static void put_first_neighbour(void)
{
	put(B, LARGE, 1);
	find(B, LARGE, 1);
}

static void end_first(void)
{
	find(A, SMALL, 1);
	find(B, LARGE, 1);
	model_require(live_direct_count(&segment) == 2, "both are in the piece");
	model_require(segment.header->pieces[1] == 0, "it is one piece");
	model_require(
		segment.places[0].piece == 0 || segment.places[1].piece == 0, "it is in one place");
}

#define FAR (A + 2 * HT_PIECE_BYTES) /* wants the same place for its piece */

static void put_far(void)
{
	put(FAR, SMALL, 1);
	find(FAR, SMALL, 1);
}

static void end_far(void)
{
	find(A, SMALL, 1);
	find(FAR, SMALL, 1);
	blocks_are(2);
}

/* ---- the overflow ---- */

#define C      (PIECE + 0x1000) /* of granule 0: blocks of all sizes in first[] */
#define BEFORE (C - 64)

/* Brings memory. */
static void put_before(void)
{
	put(BEFORE, SMALL, 1);
	find(BEFORE, SMALL, 1);
}

/* No memory for it yet. It goes, and a small block gets its address. */
static void give_big(void)
{
	put(C, TOO_BIG, 1);
	ht_store_release_64(given, C);
}

static void take_big(void)
{
	if (ht_load_acquire_64(given) != C)
		return;
	take(C, TOO_BIG, 1);
	put(C, SMALL, 2);
	take(C, SMALL, 2);
	ht_store_relaxed_64(freed, C);
}

/* Its free is missed. */
static void miss_big(void)
{
	struct live_block old[LIVE_MISSED_MAX];

	if (ht_load_acquire_64(given) != C)
		return;
	model_require(insert(C, SMALL, 2, old) == 1, "a missed free shows");
	model_require(is_block(&old[0], C, TOO_BIG, 1), "a missed block is reported as it was");
	take(C, SMALL, 2);
	ht_store_relaxed_64(freed, C);
}

static void end_big(void)
{
	bool gone = *freed == C;

	if (!gone)
		find(C, TOO_BIG, 1);
	blocks_are(gone ? 1 : 2);
	find(BEFORE, SMALL, 1);
}

static const struct model_scenario scenarios[] = {
	{ .name = "neighbours come and go",
		.setup = setup_populated,
		.thread = { small_comes_and_goes, neighbour_comes_and_goes },
		.end = end_neighbours,
		.deviations = 4 },
	{ .name = "neighbours come and go where a viewer watches",
		.setup = setup_watched,
		.thread = { small_goes_and_comes, neighbour_comes_and_goes },
		.end = end_watched,
		.deviations = 3 },
	{ .name = "a block changes hands and its address is used again",
		.setup = setup_populated,
		.thread = { give_and_reuse, take_and_free },
		.end = end_hands,
		.deviations = 4 },
	{ .name = "two threads make a piece and take its memory",
		.setup = setup_empty,
		.thread = { put_first, put_first_neighbour },
		.end = end_first,
		.deviations = 3 },
	{ .name = "two threads want one place for two pieces",
		.setup = setup_empty,
		.thread = { put_first, put_far },
		.end = end_far,
		.deviations = 3 },
	{ .name = "a block of the overflow changes hands while memory comes",
		.setup = setup_empty,
		.thread = { give_big, take_big, put_before },
		.end = end_big,
		.deviations = 2 },
	{ .name = "the free of a block of the overflow is missed while memory comes",
		.setup = setup_empty,
		.thread = { give_big, miss_big, put_before },
		.end = end_big,
		.deviations = 2 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
