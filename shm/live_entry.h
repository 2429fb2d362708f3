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

/* A tick in 29 bits: a mantissa of 26, and 3 that count divisions by 4. So births are exact for the
 * first 73 minutes, then to 262 us for 5 hours, to 1 ms for 20, to a second after years. Rounded
 * down, so that no block is born in the future. */
#define LIVE_BIRTH_EXACT (HT_ENTRY_BIRTH_BITS - 3)
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

/* These select one of two without a jump, which would be mispredicted. `a` if live_is_second. */
HT_HOT uint64_t *live_choose_second(uint64_t addr, uint64_t *a, uint64_t *b)
{
#ifdef __x86_64__
	__asm__("testl %1, %2\n\tcmovne %3, %0"
		: "+r"(b)
		: "i"(2 * HT_GRANULE_BYTES), "r"((uint32_t)addr + HT_GRANULE_BYTES), "r"(a)
		: "cc");
	return b;
#else
	return live_is_second(addr) ? a : b;
#endif
}

/* `a` if x = y. */
HT_HOT uint64_t *live_choose_equal(uint64_t x, uint64_t y, uint64_t *a, uint64_t *b)
{
#ifdef __x86_64__
	__asm__("cmpq %1, %2\n\tcmove %3, %0" : "+r"(b) : "r"(x), "r"(y), "r"(a) : "cc");
	return b;
#else
	return x == y ? a : b;
#endif
}

/* `a` if x < y. */
HT_HOT uint64_t *live_choose_below(uint64_t x, uint64_t y, uint64_t *a, uint64_t *b)
{
#ifdef __x86_64__
	__asm__("cmpq %1, %2\n\tcmovb %3, %0" : "+r"(b) : "rm"(y), "r"(x), "r"(a) : "cc");
	return b;
#else
	return x < y ? a : b;
#endif
}

/* Kind and position of the entry of a block at `addr`; those of an odd address match no entry. */
HT_HOT uint64_t live_which(uint64_t addr)
{
	return (addr & (HT_LINE_BYTES - 1)) + HT_ENTRY_BLOCK;
}

HT_HOT uint64_t live_entry(uint64_t addr, uint64_t size, uint64_t birth, uint32_t counter)
{
	uint64_t number = counter;

	number = number >> (64 - HT_ENTRY_COUNTER_SHIFT) | number << HT_ENTRY_COUNTER_SHIFT;
	return number | birth << HT_ENTRY_BIRTH_SHIFT | size << HT_ENTRY_SIZE_SHIFT |
	       live_which(addr);
}

/* Publishes a block of that live_birth. Its entries must be free, and owned by it. */
HT_HOT void live_store(
	uint64_t *entry, uint64_t addr, uint64_t size, uint64_t birth, uint32_t counter)
{
	if (size >= HT_ENTRY_SIZE) {
		ht_store_release_64(
			entry + 1, size << HT_ENTRY_LONG_SHIFT | HT_ENTRY_EXTENSION); /* ENTRY */
		size = HT_ENTRY_SIZE;
	}
	ht_store_release_64(entry, live_entry(addr, size, birth, counter)); /* ENTRY */
}

/* Marks an entry as free. It keeps telling whose it was. */
HT_HOT void live_clear(uint64_t *entry)
{
	ht_clear_own_64(entry, HT_ENTRY_BLOCK);
}

/* Whether a block may take the entry. */
HT_HOT bool live_is_free(uint64_t word)
{
	return (word & HT_ENTRY_KIND) == 0;
}

/* Rotated, an entry begins with its counter and ends with its birth. */
#define LIVE_ENTRY_TURN (64 - HT_ENTRY_COUNTER_SHIFT)
HT_HOT uint64_t live_entry_turned(uint64_t entry)
{
	return entry << LIVE_ENTRY_TURN | entry >> HT_ENTRY_COUNTER_SHIFT;
}

/* The parts of an entry. The size may be stored elsewhere. */
HT_HOT uint64_t live_entry_size(uint64_t entry)
{
	return entry >> HT_ENTRY_SIZE_SHIFT & HT_ENTRY_SIZE;
}

HT_HOT uint32_t live_entry_birth(uint64_t entry)
{
	return (uint32_t)(live_entry_turned(entry) >> (HT_ENTRY_BIRTH_SHIFT + LIVE_ENTRY_TURN));
}

HT_HOT uint32_t live_entry_counter(uint64_t entry)
{
	return (uint32_t)live_entry_turned(entry) & (HT_COUNTERS_MAX - 1);
}

HT_HOT struct live_block live_unpack(uint64_t entry)
{
	return (struct live_block){ .size = live_entry_size(entry),
		.tick = live_tick(live_entry_birth(entry)),
		.counter = live_entry_counter(entry) };
}

#endif
