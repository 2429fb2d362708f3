/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block in the live table, and the entry of its directly mapped part: one word, packed as
 * shm/layout.h says, and its place. Pure functions, except live_store. Any thread.
 */
#ifndef SHM_LIVE_ENTRY_H
#define SHM_LIVE_ENTRY_H

#include "shm/atomic.h"
#include "shm/layout.h"

struct live_block {
	uint64_t size; /* requested bytes, below 2^48 */
	uint64_t tick; /* time of birth, segment_tick; below 2^40, rounded by live_birth */
	/* The counter of its slot and site: below HT_COUNTERS_MAX. A sampled block has
	 * poisson_weight's log2 above that, so that one comparison reveals rare cases. */
	uint32_t counter;
};

#define LIVE_RATE_SHIFT 24u

/* 0: recorded exactly. */
static inline uint32_t live_rate(const struct live_block *b)
{
	return b->counter >> LIVE_RATE_SHIFT;
}

static inline uint32_t live_counter(const struct live_block *b)
{
	return b->counter & (HT_COUNTERS_MAX - 1);
}

/* A tick in 30 bits: a mantissa of 27, and 3 that count divisions by 4. So births are exact for the
 * first 2.4 hours, then to 262 us for 10 hours, to 1 ms for 39, to a second after years. Rounded
 * down, so that no block is born in the future. */
#define LIVE_BIRTH_EXACT 27u
uint32_t live_birth_rounded(uint64_t tick);
static inline uint32_t live_birth(uint64_t tick)
{
	return __builtin_expect(tick < 1ull << LIVE_BIRTH_EXACT, 1) ? (uint32_t)tick
								    : live_birth_rounded(tick);
}

static inline uint64_t live_tick(uint32_t birth)
{
	return (birth & ((1ull << LIVE_BIRTH_EXACT) - 1)) << 2 * (birth >> LIVE_BIRTH_EXACT);
}

/* Whether a smaller block that starts at `addr` has its entry in second[]. */
HT_HOT bool live_is_second(uint64_t addr)
{
	return ((addr + HT_GRANULE_BYTES) & 2 * HT_GRANULE_BYTES) != 0;
}

HT_HOT uint64_t *live_first(struct ht_piece *p, uint64_t at)
{
	return &p->first[(at + 3 * HT_GRANULE_BYTES) / HT_LINE_BYTES];
}

HT_HOT uint64_t *live_second(struct ht_piece *p, uint64_t at)
{
	return &p->second[at / HT_LINE_BYTES];
}

/* Selects one of two without a jump, which would be mispredicted. */
HT_HOT uint64_t *live_choose(bool is_first, uint64_t *a, uint64_t *b)
{
#ifdef __x86_64__
	__asm__("test %1, %1\n\tcmovne %2, %0" : "+r"(b) : "q"(is_first), "r"(a) : "cc");
	return b;
#else
	return is_first ? a : b;
#endif
}

/* Kind and position of the entry of a block at `addr`; those of an odd address match no entry. */
HT_HOT uint64_t live_which(uint64_t addr)
{
	return (addr & (HT_LINE_BYTES - 1)) + HT_ENTRY_BLOCK;
}

HT_HOT uint64_t live_entry(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter)
{
	return ((uint64_t)live_birth(tick) << HT_ENTRY_BIRTH_SHIFT) | size << HT_ENTRY_SIZE_SHIFT |
	       counter << HT_ENTRY_COUNTER_SHIFT | live_which(addr);
}

/* Publishes a block. Its entries must be free, and owned by it. */
HT_HOT void live_store(
	uint64_t *entry, uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter)
{
	if (size >= HT_ENTRY_SIZE) {
		ht_store_release_64(
			entry + 1, size << HT_ENTRY_LONG_SHIFT | HT_ENTRY_EXTENSION); /* ENTRY */
		size = HT_ENTRY_SIZE;
	}
	ht_store_release_64(entry, live_entry(addr, size, tick, counter)); /* ENTRY */
}

/* Unpacks an entry, except a size stored elsewhere. */
HT_HOT struct live_block live_unpack(uint64_t entry)
{
	return (struct live_block){ .size = entry >> HT_ENTRY_SIZE_SHIFT & HT_ENTRY_SIZE,
		.tick = live_tick((uint32_t)(entry >> HT_ENTRY_BIRTH_SHIFT)),
		.counter = (uint32_t)(entry >> HT_ENTRY_COUNTER_SHIFT) & (HT_COUNTERS_MAX - 1) };
}

#endif
