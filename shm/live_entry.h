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
static inline uint64_t live_birth(uint64_t tick)
{
	return __builtin_expect(tick < 1ull << LIVE_BIRTH_EXACT, 1) ? tick
								    : live_birth_rounded(tick);
}

static inline uint64_t live_tick(uint64_t birth)
{
	uint64_t exact = (1ull << LIVE_BIRTH_EXACT) - 1;

	return __builtin_expect(birth <= exact, 1)
		       ? birth
		       : (birth & exact) << 2 * (birth >> LIVE_BIRTH_EXACT);
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
	uint64_t number = counter;

	number = number >> (64 - HT_ENTRY_COUNTER_SHIFT) | number << HT_ENTRY_COUNTER_SHIFT;
	return number | live_birth(tick) << HT_ENTRY_BIRTH_SHIFT | size << HT_ENTRY_SIZE_SHIFT |
	       live_which(addr);
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

/* Unpacks an entry, except a size stored elsewhere. Rotated, it begins with the counter and ends
 * with the birth. */
HT_HOT struct live_block live_unpack(uint64_t entry)
{
	const uint32_t turn = 64 - HT_ENTRY_COUNTER_SHIFT;
	uint64_t turned = entry << turn | entry >> HT_ENTRY_COUNTER_SHIFT;

	return (struct live_block){ .size = turned >> (HT_ENTRY_SIZE_SHIFT + turn) & HT_ENTRY_SIZE,
		.tick = live_tick(turned >> (HT_ENTRY_BIRTH_SHIFT + turn)),
		.counter = (uint32_t)turned & (HT_COUNTERS_MAX - 1) };
}

#endif
