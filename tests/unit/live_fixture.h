/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the live table share: blocks whose contents follow from their address. */
#ifndef TESTS_UNIT_LIVE_FIXTURE_H
#define TESTS_UNIT_LIVE_FIXTURE_H

#include "tests/unit/shm_fixture.h"

#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"

#define BASE 0x7f5544000000ull /* where a piece begins */

static inline struct live_block block(uint64_t addr, uint64_t size)
{
	return (struct live_block){ .size = size,
		.tick = addr / 8 * 2654435761u % (1u << LIVE_BIRTH_EXACT),
		.counter = (uint32_t)(addr / 8 * 40503u % HT_COUNTER_HIDDEN) };
}

static inline bool same(const struct live_block *a, const struct live_block *b)
{
	return a->size == b->size && a->tick == b->tick && a->counter == b->counter;
}

/* The result of live_insert; `old` gets the block that it reported. */
static inline unsigned put_told(
	const struct segment *s, uint64_t addr, uint64_t size, struct live_block *old)
{
	struct live_block b = block(addr, size);

	return live_insert(s, addr, &b, old);
}

static inline unsigned put(const struct segment *s, uint64_t addr, uint64_t size)
{
	struct live_block old[LIVE_MISSED_MAX];

	return put_told(s, addr, size, old);
}

static inline bool is_there(const struct segment *s, uint64_t addr, uint64_t size)
{
	struct live_block want = block(addr, size), got;

	return live_find(s, addr, &got) && same(&got, &want);
}

static inline bool take(const struct segment *s, uint64_t addr, uint64_t size)
{
	struct live_block want = block(addr, size), got;

	return live_remove(s, addr, &got) && same(&got, &want);
}

static inline uint64_t in_levels(const struct segment *s)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(s, &p);
	CHECK_INT(p.overflow, p.buckets_passed);
	return p.blocks;
}

static inline uint64_t blocks_in(const struct segment *s)
{
	return live_direct_count(s) + in_levels(s);
}

static inline void open_full(struct fixture *f, bool glibc)
{
	fixture_open(f, SEGMENT_FULL);
	segment_extents(&f->s, glibc);
}

static const uint64_t edge_sizes[] = { 0, 1, 8, 9, 16, 17, 24, 25, 32, 40, 41, 48, 56, 57, 64, 100,
	126, 127, 128, 129, 255, 4095, 4096, 100000, (1ull << 48) - 1 };
#define EDGES (sizeof(edge_sizes) / sizeof(edge_sizes[0]))

/* How far a block's successor is away at least. */
static inline uint64_t pitch(bool glibc, uint64_t size)
{
	if (!glibc)
		return size ? (size + 7) & ~7ull : 8;
	return size < 24 ? 32 : (size + 8 + 15) & ~15ull;
}

#endif
