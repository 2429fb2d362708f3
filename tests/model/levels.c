/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The protocol of the live table's overflow, with two buckets in level 0 and a probe of two: slots
 * that several threads want, blocks that pass over full buckets, blocks that change hands, growth,
 * a full table, and memory not yet taken. walk.c adds a viewer.
 */
#include "shm/live_overflow.h"
#include "shm/live.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/model/model.h"

#define CANDIDATES 64u
#define LEVELS	   2u

static struct segment segment;

/* Addresses and their home buckets, found by asking the hash itself. */
static struct known {
	uint64_t addr;
	uint32_t home[LEVELS];
	bool used;
} known[CANDIDATES];

/* The threads' blocks, by letter; and blocks that fill the buckets. */
static uint64_t a, b, x, y;

static struct ht_bucket *bucket(uint32_t level, uint32_t number)
{
	return (struct ht_bucket *)segment_at(
		       &segment, segment_level_offset(segment.header, level)) +
	       number;
}

static uint32_t buckets(uint32_t level)
{
	return 1u << (segment.header->live_log2 + 2 * level);
}

/* Version 2 is what a block looks like that took the address over. */
static struct live_block block(uint64_t addr, uint32_t version)
{
	return (struct live_block){ .size = addr * 10 + version,
		.tick = addr * 100 + version,
		.counter = (uint32_t)(addr & 0xffff) + version };
}

static bool is_block(const struct live_block *got, uint64_t addr, uint32_t version)
{
	struct live_block want = block(addr, version);

	return got->size == want.size && got->tick == want.tick && got->counter == want.counter;
}

static int insert(uint64_t addr, uint32_t version)
{
	struct live_block put = block(addr, version), old[LIVE_MISSED_MAX];
	unsigned rc = live_insert(&segment, addr, &put, old);

	model_require(
		rc != 1 || is_block(&old[0], addr, 1), "a missed block is reported as it was");
	return rc == LIVE_REFUSED ? -ENOSPC : (int)rc;
}

static void find(uint64_t addr, uint32_t version)
{
	struct live_block got = { 0 };

	model_require(live_find(&segment, addr, &got), "a block that is in is found");
	model_require(is_block(&got, addr, version), "a block is found as it was put");
}

static void take(uint64_t addr, uint32_t version)
{
	struct live_block got = { 0 };

	model_require(live_remove(&segment, addr, &got), "a block that is in can be taken");
	model_require(is_block(&got, addr, version), "a block is taken as it was put");
}

/* ---- setups ---- */

static uint32_t home_ask(uint64_t addr, uint32_t level)
{
	uint32_t home = UINT32_MAX;

	segment.header->live_levels = level + 1;
	insert(addr, 1);
	for (uint32_t n = 0; n < buckets(level); n++)
		for (uint32_t i = 0; i < HT_BUCKET_SLOTS; i++)
			if (bucket(level, n)->key[i] == addr)
				home = n;
	take(addr, 1);
	return home;
}

static void homes_learn(void)
{
	for (uint32_t i = 0; i < CANDIDATES; i++) {
		known[i] = (struct known){ .addr = 0x1000 + i * 16 };
		for (uint32_t level = 0; level < LEVELS; level++)
			known[i].home[level] = home_ask(known[i].addr, level);
	}
	segment.header->live_levels = 1;
}

/* A fresh address with this home in level 0. */
static uint64_t pick(uint32_t home)
{
	for (uint32_t i = 0; i < CANDIDATES; i++)
		if (!known[i].used && known[i].home[0] == home) {
			known[i].used = true;
			return known[i].addr;
		}
	abort();
}

static void fill(uint32_t home, uint32_t count)
{
	while (count-- > 0)
		insert(pick(home), 1);
}

static void table(uint32_t levels)
{
	model_segment(&segment, 1, LEVELS);
	homes_learn();
	segment.header->live_levels_max = levels;
	for (uint32_t level = 0; level < levels; level++)
		for (uint32_t n = 0; n < buckets(level); n++)
			model_owned(bucket(level, n)->payload, sizeof(bucket(level, n)->payload));
	a = pick(0);
	b = pick(0);
	x = pick(0);
	y = pick(0);
}

/* ---- what holds at any moment and at the end ---- */

static uint32_t passed_over(uint64_t addr, uint32_t level, uint32_t at, uint32_t number)
{
	for (uint32_t i = 0; i < CANDIDATES; i++)
		if (known[i].addr == addr) {
			uint32_t mask = buckets(level) - 1, home = known[i].home[level];

			return ((number - home) & mask) < ((at - home) & mask);
		}
	return 0;
}

static void coverage_check(uint32_t level, uint32_t number)
{
	uint64_t beyond = 0;

	for (uint32_t n = 0; n < buckets(level); n++)
		for (uint32_t i = 0; i < HT_BUCKET_SLOTS; i++)
			if (bucket(level, n)->key[i] > HT_KEY_CLAIMED)
				beyond += passed_over(bucket(level, n)->key[i], level, n, number);
	model_require(
		bucket(level, number)->overflow >= beyond && bucket(level, number)->overflow < 1000,
		"a bucket counts at least the blocks that passed over it");
}

static void covered(void)
{
	for (uint32_t level = 0; level < segment.header->live_levels; level++)
		for (uint32_t n = 0; n < buckets(level); n++)
			coverage_check(level, n);
}

static uint64_t blocks_at_start;

static void sound(uint64_t blocks)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(&segment, &p);
	model_require(p.blocks == blocks, "every block is in once");
	model_require(p.overflow == p.buckets_passed, "no count is left behind");
}

static void started(void)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(&segment, &p);
	blocks_at_start = p.blocks;
}

/* ---- two threads want the last free slot ---- */

static void setup_last_slot(void)
{
	table(1);
	fill(0, HT_BUCKET_SLOTS - 1);
	started();
}

static void put_a(void)
{
	model_require(insert(a, 1) == 0, "there is room");
	find(a, 1);
}

static void put_b(void)
{
	model_require(insert(b, 1) == 0, "there is room");
	find(b, 1);
}

static void end_both(void)
{
	find(a, 1);
	find(b, 1);
	sound(blocks_at_start + 2);
}

/* ---- blocks come and go in a full bucket ---- */

static void setup_full_bucket(void)
{
	table(1);
	fill(0, HT_BUCKET_SLOTS - 1);
	insert(x, 1);
	started();
}

static void take_x_put_a(void)
{
	take(x, 1);
	put_a();
}

static void put_and_take_b(void)
{
	put_b();
	take(b, 1);
}

static void end_a_for_x(void)
{
	find(a, 1);
	sound(blocks_at_start);
}

/* x has passed over the full bucket 0; it goes, while another block wants to pass over it too. */
static void setup_beyond(void)
{
	table(1);
	fill(0, HT_BUCKET_SLOTS);
	insert(x, 1);
	started();
}

static void take_x(void)
{
	take(x, 1);
}

static void end_b_for_x(void)
{
	find(b, 1);
	sound(blocks_at_start);
}

/* ---- a block changes hands; its address is used again ---- */

static uint64_t *given, *freed;

static void setup_hands(void)
{
	setup_full_bucket();
	given = model_shared(8);
	freed = model_shared(8);
}

static void give_and_reuse(void)
{
	model_require(insert(a, 1) == 0, "there is room");
	ht_store_release_64(given, a);
	if (ht_load_acquire_64(freed) == a) {
		model_require(insert(a, 2) == 0, "an address can be used again");
		find(a, 2);
	}
}

static void take_and_free(void)
{
	if (ht_load_acquire_64(given) != a)
		return;
	find(a, 1);
	take(a, 1);
	ht_store_release_64(freed, a);
}

static void end_hands(void)
{
	struct live_block got = { 0 };
	bool in = live_find(&segment, a, &got);

	model_require(
		!in || is_block(&got, a, 1) || is_block(&got, a, 2), "the block is one of the two");
	sound(blocks_at_start + in);
}

/* ---- growth ---- */

static void setup_full_level(void)
{
	table(2);
	fill(0, HT_BUCKET_SLOTS);
	fill(1, HT_BUCKET_SLOTS - 1);
	insert(x, 1);
	started();
}

static void find_and_take_x(void)
{
	find(x, 1);
	take(x, 1);
}

static void end_grown(void)
{
	struct live_block got;

	model_require(live_find(&segment, a, &got) && live_find(&segment, b, &got),
		"blocks are found after growth");
	model_require(segment.header->live_levels == 2, "the table grows by one level");
	sound(blocks_at_start + 2);
}

static void end_grown_or_not(void)
{
	find(a, 1);
	sound(blocks_at_start);
}

static void put_a_give(void)
{
	put_a();
	ht_store_release_64(given, a);
}

static void take_given(void)
{
	if (ht_load_acquire_64(given) == a)
		take(a, 1);
}

static void setup_growth_and_hands(void)
{
	setup_full_level();
	given = model_shared(8);
}

static void end_any(void)
{
	struct live_block got;

	sound(blocks_at_start + live_find(&segment, a, &got));
}

/* The first blocks of all bring level 0. */
static void setup_no_level(void)
{
	table(2);
	segment.header->live_levels = 0;
	started();
}

static void end_first_level(void)
{
	find(a, 1);
	find(b, 1);
	model_require(segment.header->live_levels == 1, "the table grows by one level");
	sound(2);
}

/* ---- a table with one slot left and no more levels ---- */

static int rc_a, rc_b;

static void setup_one_left(void)
{
	table(1);
	fill(0, HT_BUCKET_SLOTS);
	fill(1, HT_BUCKET_SLOTS - 1);
	started();
}

static void try_a(void)
{
	rc_a = insert(a, 1);
}

static void try_b(void)
{
	rc_b = insert(b, 1);
}

static void end_one(void)
{
	model_require((rc_a == 0) + (rc_b == 0) == 1, "one gets the last slot");
	model_require(rc_a + rc_b == -ENOSPC, "the other is refused");
	find(rc_a == 0 ? a : b, 1);
	sound(blocks_at_start + 1);
}

/* ---- a free was missed ---- */

static void setup_missed(void)
{
	table(1);
	fill(0, HT_BUCKET_SLOTS - 1);
	insert(a, 1);
	started();
}

static void put_a_again(void)
{
	model_require(insert(a, 2) == 1, "a missed free is reported");
	find(a, 2);
}

static void end_missed(void)
{
	find(a, 2);
	find(b, 1);
	sound(blocks_at_start + 1);
}

/* ---- memory not yet taken ---- */

static void setup_uncommitted(void)
{
	uint64_t unit = segment_level_offset((table(1), segment.header), 0) / HT_COMMIT_BYTES;

	segment.header->committed[unit / 64] &= ~(1ull << unit % 64);
	given = model_shared(8);
	blocks_at_start = 0;
}

static void put_b_take_given(void)
{
	put_b();
	if (ht_load_acquire_64(given) == a)
		find(a, 1);
}

static const struct model_scenario scenarios[] = {
	{ .name = "two threads want the last slot of a bucket",
		.setup = setup_last_slot,
		.thread = { put_a, put_b },
		.invariant = covered,
		.end = end_both,
		.deviations = 4 },
	{ .name = "blocks come and go in a full bucket",
		.setup = setup_full_bucket,
		.thread = { take_x_put_a, put_and_take_b },
		.invariant = covered,
		.end = end_a_for_x,
		.deviations = 4 },
	{ .name = "a block beyond a full bucket goes while another comes",
		.setup = setup_beyond,
		.thread = { take_x, put_b },
		.invariant = covered,
		.end = end_b_for_x,
		.deviations = 4 },
	{ .name = "a block changes hands and its address is used again",
		.setup = setup_hands,
		.thread = { give_and_reuse, take_and_free, take_x },
		.invariant = covered,
		.deviations = 3,
		.end = NULL },
	{ .name = "a block changes hands",
		.setup = setup_hands,
		.thread = { give_and_reuse, take_and_free },
		.invariant = covered,
		.end = end_hands,
		.deviations = 4 },
	{ .name = "two threads grow the table",
		.setup = setup_full_level,
		.thread = { put_a, put_b },
		.invariant = covered,
		.end = end_grown,
		.deviations = 3 },
	{ .name = "two threads put the first blocks",
		.setup = setup_no_level,
		.thread = { put_a, put_b },
		.invariant = covered,
		.end = end_first_level,
		.deviations = 3 },
	{ .name = "the table grows while a block is taken",
		.setup = setup_full_level,
		.thread = { put_a, find_and_take_x },
		.invariant = covered,
		.end = end_grown_or_not,
		.deviations = 4 },
	{ .name = "a block in a new level changes hands",
		.setup = setup_growth_and_hands,
		.thread = { put_a_give, take_given },
		.invariant = covered,
		.end = end_any,
		.deviations = 4 },
	{ .name = "two threads want the last slot of a full table",
		.setup = setup_one_left,
		.thread = { try_a, try_b },
		.invariant = covered,
		.end = end_one,
		.deviations = 4 },
	{ .name = "a block replaces one whose free was missed",
		.setup = setup_missed,
		.thread = { put_a_again, put_b },
		.invariant = covered,
		.end = end_missed,
		.deviations = 4 },
	{ .name = "two threads take the first memory",
		.setup = setup_uncommitted,
		.thread = { put_a_give, put_b_take_given },
		.invariant = covered,
		.end = end_both,
		.deviations = 4 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
