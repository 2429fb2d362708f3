/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A viewer walks the live table while blocks come and go in one of its places: what it takes for a
 * block is one, not a key with another block's payload, nor an entry with another one's size.
 */
#include "shm/live_overflow.h"
#include "shm/live.h"
#include "tests/model/model.h"

static struct segment segment;
static struct ht_bucket *bucket; /* the home of both blocks */
static const uint64_t x = 0x1000;
static uint64_t y;

/* Version 2 is what a block looks like that took the address over. */
static struct live_block block(uint64_t addr, uint32_t version)
{
	return (struct live_block){ .size = 1000 + addr / 16 % 64 * 10 + version,
		.tick = addr * 100 + version,
		.counter = (uint32_t)(addr & 0xffff) + version };
}

static bool is_block(const struct live_block *got, uint64_t addr, uint32_t version)
{
	struct live_block want = block(addr, version);

	return got->size == want.size && got->tick == want.tick && got->counter == want.counter;
}

static void insert(uint64_t addr, uint32_t version)
{
	struct live_block put = block(addr, version), old[LIVE_MISSED_MAX];

	model_require(live_insert(&segment, addr, &put, old) == 0, "there is room");
}

static void take(uint64_t addr)
{
	struct live_block got;

	model_require(live_remove(&segment, addr, &got), "a block that is in can be taken");
}

/* The bucket in whose first slot a block alone in the table lands. */
static struct ht_bucket *home(uint64_t addr)
{
	struct ht_bucket *b = segment_at(&segment, segment_level_offset(segment.header, 0));

	insert(addr, 1);
	while (b->key[0] != addr)
		b++;
	take(addr);
	return b;
}

static void setup_empty(void)
{
	model_segment(&segment, 1, 1);
	bucket = home(x);
	for (y = x + 16; home(y) != bucket;)
		y += 16;
}

static void setup_x(void)
{
	setup_empty();
	insert(x, 1);
}

/* As src/read does, by two copies; each takes a bucket from its start to its end. */
static void walk_slot(uint32_t i)
{
	const struct ht_live_payload *p = &bucket->payload[i];
	uint64_t copy[2][3];
	struct live_block got;

	for (int pass = 0; pass < 2; pass++) {
		copy[pass][0] = ht_load_relaxed_64(&bucket->key[i]);
		ht_fence_acquire();
		copy[pass][1] = ht_load_relaxed_64(&p->size_rate);
		copy[pass][2] = ht_load_relaxed_64(&p->counter_tick);
		ht_fence_acquire();
	}
	if (copy[0][0] != copy[1][0] || copy[0][0] <= HT_KEY_CLAIMED || copy[0][1] != copy[1][1] ||
		copy[0][2] != copy[1][2])
		return;
	live_overflow_unpack(&(struct ht_live_payload){ copy[0][1], copy[0][2] }, &got);
	model_require(is_block(&got, copy[0][0], 1) || is_block(&got, copy[0][0], 2),
		"a viewer sees no block with another's data");
}

static void walk(void)
{
	walk_slot(0);
}

static void take_x_put_y(void)
{
	take(x);
	insert(y, 1);
}

static void take_x_put_x(void)
{
	take(x);
	insert(x, 2);
}

static void take_x(void)
{
	take(x);
}

static void put_y(void)
{
	insert(y, 1);
}

/* Quiet: the block is found as it was put. */
static void end_of(uint64_t addr, uint32_t version)
{
	struct live_block got;

	model_require(live_find(&segment, addr, &got) && is_block(&got, addr, version),
		"a block that is in is found as it was put");
}

static void end_x(void)
{
	end_of(x, 2);
}

static void end_y(void)
{
	end_of(y, 1);
}

/* ---- entries of two words ---- */

static uint64_t *entry; /* of a long block at x */

static void setup_long(void)
{
	static const uint64_t at = 0x1000;

	model_segment(&segment, 1, 1);
	model_pieces(&segment, 1);
	insert(x, 1);
	entry = live_first(segment.pieces, at);
	model_require(ht_load_relaxed_64(entry) != 0, "the block is in its place");
}

/* As src/read does. */
static void walk_entry(void)
{
	uint64_t copy[2][2];
	struct live_block got;

	for (int pass = 0; pass < 2; pass++) {
		copy[pass][0] = ht_load_relaxed_64(entry);
		copy[pass][1] = ht_load_relaxed_64(entry + 1);
		ht_fence_acquire();
	}
	if ((copy[0][0] & HT_ENTRY_BLOCK) == 0 || copy[0][0] != copy[1][0] ||
		copy[0][1] != copy[1][1] || (copy[0][1] & HT_ENTRY_KIND) != HT_ENTRY_EXTENSION)
		return;
	got = live_unpack(copy[0][0]);
	got.size = copy[0][1] >> HT_ENTRY_LONG_SHIFT;
	model_require(is_block(&got, x, 1) || is_block(&got, x, 2),
		"a viewer sees no block with another's size");
}

static const struct model_scenario scenarios[] = {
	{ .name = "a viewer walks while a long block's address comes back",
		.setup = setup_long,
		.thread = { take_x_put_x, walk_entry },
		.end = end_x,
		.deviations = 8,
		.observers = 1u << 1 },
	{ .name = "a viewer walks while a slot changes hands",
		.setup = setup_x,
		.thread = { take_x_put_y, walk },
		.end = end_y,
		.deviations = 6,
		.observers = 1u << 1 },
	{ .name = "a viewer walks while a slot is filled",
		.setup = setup_empty,
		.thread = { put_y, walk },
		.end = end_y,
		.deviations = 6,
		.observers = 1u << 1 },
	{ .name = "a viewer walks while an address comes back",
		.setup = setup_x,
		.thread = { take_x_put_x, walk },
		.end = end_x,
		.deviations = 6,
		.observers = 1u << 1 },
	{ .name = "a viewer walks while threads meet",
		.setup = setup_x,
		.thread = { take_x, put_y, walk },
		.end = end_y,
		.deviations = 4,
		.observers = 1u << 2 },
};

int main(void)
{
	return model_run(scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
