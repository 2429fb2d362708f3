/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table of frees by address (freed.h), without locks: an entry is one word, with the site and
 * the part of the address that the entry's place does not determine. A later free replaces an
 * earlier one.
 */
#include "preload/freed.h"

#include <stddef.h>

#include "preload/environment.h"
#include "shm/atomic.h"
#include "shm/layout.h"
#include "shm/private.h"

#define PLACES_LOG2 16u
#define PLACES	    (1u << PLACES_LOG2)
#define ALIGN_LOG2  3u /* of the addresses that malloc returns; others share entries */
#define SITE_BITS   (64u - (48u - ALIGN_LOG2 - PLACES_LOG2)) /* user addresses have 47 bits */

static_assert(SITE_BITS >= HT_SITES_LOG2, "an entry is one word");

static uint64_t *table; /* NULL: off */

void freed_start(void)
{
	const char *choice = environment_variable("HEAPTOP_FREES");

	if (choice && __builtin_strcmp(choice, "1") == 0)
		table = private_map(PLACES * sizeof(*table));
}

void freed_forked(void)
{
	bool was_on = freed_is_on();

	freed_end();
	if (was_on)
		table = private_map(PLACES * sizeof(*table));
}

void freed_end(void)
{
	if (table)
		private_unmap(table, PLACES * sizeof(*table));
	table = NULL;
}

bool freed_is_on(void)
{
	return table != NULL;
}

static uint64_t *place_of(uint64_t addr)
{
	return &table[addr >> ALIGN_LOG2 & (PLACES - 1)];
}

static uint64_t rest_of(uint64_t addr)
{
	return addr >> (ALIGN_LOG2 + PLACES_LOG2) << SITE_BITS;
}

/* Relaxed: an entry stands for itself. */
void freed_note(uint64_t addr, uint32_t site)
{
	if (table)
		ht_store_relaxed_64(place_of(addr), rest_of(addr) | site);
}

uint32_t freed_site(uint64_t addr)
{
	uint64_t seen = table ? ht_load_relaxed_64(place_of(addr)) : 0;

	return (seen ^ rest_of(addr)) >> SITE_BITS == 0 ? (uint32_t)seen & (HT_SITES_MAX - 1) : 0;
}
