/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explains frees of addresses that are not live blocks (wrong_free.h), from the entries that
 * remain in the live table.
 * No locks, no system calls.
 */
#include "preload/wrong_free.h"

#include "preload/former.h"
#include "preload/freed.h"
#include "preload/next_allocator.h"
#include "preload/recorder.h"
#include "shm/live_around.h"
#include "shm/live_direct.h"

/* Searches of the whole overflow, some 10 us each, that a program gets. */
#define THOROUGH_MOST 10000u

static uint32_t missed; /* 1: a block was allocated before recording began */
static uint32_t bypassed; /* 1: blocks may come without a call that is recorded */
static uint32_t searches;
static uint64_t settled; /* tick from which on every block that is born is recorded */

void wrong_free_missed(void)
{
	ht_store_relaxed_32(&missed, 1);
}

void wrong_free_bypassed(void)
{
	ht_store_relaxed_32(&bypassed, 1);
}

/* An allocation that began before the jumps were there ends soon, or after a long preemption. */
#define SETTLE_NS UINT64_C(2000000000)

void wrong_free_attached(void)
{
	wrong_free_missed();
	settled = segment_tick(&state_segment) + (SETTLE_NS >> HT_TICK_SHIFT);
}

/* Whether blocks exist that this segment does not know. */
static bool has_strangers(const struct ht_header *h)
{
	return h->forked != 0 || ht_load_relaxed_32(&missed) != 0 ||
	       ht_load_relaxed_64(&h->untracked_blocks) != 0;
}

/* Whether all that began before the jumps were there had ended at that tick, as a viewer saw. It
 * looks only at libc's malloc. */
static bool is_seen_settled(uint64_t tick)
{
	const struct ht_header *h = state_segment.header;
	uint32_t seen = ht_load_relaxed_32(&h->before_settled); /* stands for itself */

	return seen != 0 && tick >= seen && next_is_listed() &&
	       ht_load_relaxed_32(&h->patched) <= 1; /* number 0 is none */
}

/* What an allocation that began before the jumps were there got since is a stranger, too. */
static bool is_settled(const struct live_block *b)
{
	return b->tick >= settled || is_seen_settled(b->tick);
}

void wrong_free_former(uint64_t addr, const struct live_block *b)
{
	if (live_rate(b) == 0 && is_settled(b))
		former_note(addr, live_counter(b));
}

static void block_note(struct wrong_free *out, const struct live_block *b)
{
	uint32_t counter = live_counter(b);

	if (counter != HT_COUNTER_HIDDEN)
		out->alloc_site = counter_site(&recorder_shared, counter);
	out->bytes = b->size;
}

static bool was_block(uint64_t addr, struct live_block *b)
{
	if (live_direct_former(&state_segment, addr, b))
		return is_settled(b);
	*b = (struct live_block){ 0 };
	return former_find(addr, &b->counter);
}

/* An untracked block, or one that is not recorded, may have been at a former one's place. */
static bool is_double(uint64_t addr, struct wrong_free *out)
{
	struct live_block b;

	if (ht_load_relaxed_64(&state_segment.header->untracked_blocks) != 0 ||
		ht_load_relaxed_32(&bypassed) != 0 || !was_block(addr, &b))
		return false;
	out->kind = HT_WRONG_DOUBLE;
	out->first_site = freed_site(addr);
	block_note(out, &b);
	return true;
}

/* Not where strangers are freed all the time, as in a child of fork: the search takes some
 * microseconds. */
static bool is_inside(uint64_t addr, struct wrong_free *out)
{
	bool thorough = ht_load_relaxed_32(&searches) < THOROUGH_MOST;
	struct live_block b;
	uint64_t start;

	ht_add_relaxed_32(&searches, thorough);
	if (!live_around(&state_segment, addr, thorough, &b, &start) ||
		live_counter(&b) == HT_COUNTER_HIDDEN)
		return false;
	out->kind = HT_WRONG_INSIDE;
	out->offset = addr - start;
	block_note(out, &b);
	return true;
}

bool wrong_free_explain(uint64_t addr, struct wrong_free *out)
{
	*out = (struct wrong_free){ .kind = HT_WRONG_UNKNOWN, .addr = addr };
	if (is_double(addr, out))
		return true;
	if (has_strangers(state_segment.header))
		return false;
	(void)is_inside(addr, out);
	return true;
}
