/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Combines the two parts of the live table (live.h). Runs inside hooks, on any thread.
 */
#include "shm/live.h"

#include "shm/live_direct.h"
#include "shm/live_overflow.h"

bool live_find(const struct segment *s, uint64_t addr, struct live_block *out)
{
	return live_direct_find(s, addr, out) || live_overflow_find(s, addr, out);
}

bool live_remove_slow(const struct segment *s, uint64_t addr, struct live_block *out)
{
	return live_direct_take(s, addr, out) || live_overflow_take(s, addr, out);
}

/* Removes blocks that have this address already. Returns their number: at most one in each place,
 * so that old[] has room for those that own the new block's entries. */
static unsigned missed_take(const struct segment *s, uint64_t addr, struct live_block *old)
{
	unsigned missed = 0;

	while (missed < LIVE_MISSED_MAX - 3 && live_direct_take(s, addr, &old[missed]))
		missed++;
	return missed + live_overflow_take(s, addr, &old[missed]);
}

unsigned live_insert_sampled(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old)
{
	unsigned missed = missed_take(s, addr, old);

	return live_overflow_put(s, addr, b) ? missed : missed | LIVE_REFUSED;
}

unsigned live_insert_slow(const struct segment *s, uint64_t addr, uint64_t size, uint64_t tick,
	uint32_t counter, struct live_block *old)
{
	struct live_block b = { .size = size, .tick = tick, .counter = counter };
	unsigned missed = missed_take(s, addr, old);

	if (live_direct_put(s, addr, &b, old, &missed))
		return missed;
	live_direct_mark(s, addr);
	return live_overflow_put(s, addr, &b) ? missed : missed | LIVE_REFUSED;
}
