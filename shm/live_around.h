/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which live block contains an address: for the diagnosis of a free inside a block. Any thread,
 * inside hooks.
 */
#ifndef SHM_LIVE_AROUND_H
#define SHM_LIVE_AROUND_H

#include "shm/live_entry.h"
#include "shm/segment_types.h"

/* The live block that contains `addr` and starts before it. The search is bounded: some 2 MB of
 * address space without any block end it. `thorough`: searches the overflow, too, which has large
 * blocks; that takes longer. False: none was found. */
bool live_around(const struct segment *s, uint64_t addr, bool thorough, struct live_block *out,
	uint64_t *start);

#endif
