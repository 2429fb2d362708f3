/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overflow of the live table: blocks that its directly mapped part cannot take. A lock-free
 * hash by address; any thread may insert and remove, under the rule of shm/live.h. Bucketised open
 * addressing with outbound overflow counts instead of tombstones, as in Bronson and Shi,
 * "Open-sourcing F14" (2019). It grows by adding levels, so that nothing is ever moved while the
 * program runs.
 */
#ifndef SHM_LIVE_OVERFLOW_H
#define SHM_LIVE_OVERFLOW_H

#include "shm/live_entry.h"
#include "shm/commit.h"

/* Inserts a block with an address that is not there. False: no bucket has room and no level can be
 * added. */
bool live_overflow_put(const struct segment *s, uint64_t addr, const struct live_block *b);
/* Removes a block. False: it is not there. */
bool live_overflow_take(const struct segment *s, uint64_t addr, struct live_block *out);
bool live_overflow_find(const struct segment *s, uint64_t addr, struct live_block *out);

/* Finds the block that contains `addr` and starts before it. Reads the whole table. */
bool live_overflow_around(
	const struct segment *s, uint64_t addr, struct live_block *out, uint64_t *start);

/* Unpacks a payload as stored. */
void live_overflow_unpack(const struct ht_live_payload *p, struct live_block *out);

struct live_overflow_probe {
	uint64_t blocks;
	uint64_t buckets_passed; /* sum over blocks of the buckets between home and place */
	uint64_t longest;
	uint64_t overflow; /* sum of all overflow counts: must equal buckets_passed when quiet */
};
/* Walks all levels. For tests and diagnostics, when quiet. */
void live_overflow_probe_length(const struct segment *s, struct live_overflow_probe *out);

#endif
