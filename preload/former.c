/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of former blocks (former.h). An entry is one word, complete in itself: the counter,
 * the part of the address that the entry's place does not determine, and its generation. A later
 * entry replaces it. All entries are forgotten by starting a new generation, so a forked child
 * writes no page for that.
 */
#include "preload/former.h"

#include <assert.h>

#include "preload/bulk.h"
#include "shm/atomic.h"
#include "shm/layout.h"

#define PLACES_LOG2	10u /* 8 KB */
#define PLACES		(1u << PLACES_LOG2)
#define ALIGN_LOG2	4u /* of addresses; others are not remembered */
#define ADDRESS_BITS	47u /* of user space */
#define REST_BITS	(ADDRESS_BITS - ALIGN_LOG2 - PLACES_LOG2)
#define COUNTER_BITS	23u
#define GENERATION_BITS (64u - REST_BITS - COUNTER_BITS)

static_assert(HT_COUNTERS_MAX <= 1u << COUNTER_BITS, "an entry is one word");

static BULK uint64_t table[PLACES]; /* takes memory with the first */
static uint32_t generation = 1; /* never 0, so that no entry is */

static uint64_t rest_of(uint64_t addr)
{
	return addr >> (ALIGN_LOG2 + PLACES_LOG2);
}

/* With the rest it gives the address. Large blocks begin 16 bytes into a page, most of them. */
static uint64_t *place_of(uint64_t addr)
{
	uint64_t low = addr >> ALIGN_LOG2, rest = rest_of(addr);

	return &table[(low ^ rest ^ rest >> PLACES_LOG2) & (PLACES - 1)];
}

/* All of an entry but the counter. */
static uint64_t key_of(uint64_t addr)
{
	uint64_t of = generation & ((1u << GENERATION_BITS) - 1);

	return (of << REST_BITS | rest_of(addr)) << COUNTER_BITS;
}

static bool is_fit(uint64_t addr)
{
	return addr >> ADDRESS_BITS == 0 && (addr & ((1u << ALIGN_LOG2) - 1)) == 0;
}

/* Relaxed: an entry stands for itself. */
void former_note(uint64_t addr, uint32_t counter)
{
	if (is_fit(addr))
		ht_store_relaxed_64(place_of(addr), key_of(addr) | counter);
}

bool former_find(uint64_t addr, uint32_t *counter)
{
	uint64_t seen = ht_load_relaxed_64(place_of(addr));

	*counter = (uint32_t)seen & ((1u << COUNTER_BITS) - 1);
	return is_fit(addr) && seen - *counter == key_of(addr);
}

void former_forget(void)
{
	if ((++generation & ((1u << GENERATION_BITS) - 1)) == 0)
		generation++;
}
