/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live hash: which blocks are alive, by address. Lock-free; any thread may insert and remove,
 * as long as the two follow the program's own ownership of the block (design: a block is removed
 * before the real free and inserted after the real malloc). Bucketised open addressing with
 * outbound overflow counts instead of tombstones, as in Bronson and Shi, "Open-sourcing F14"
 * (2019); growth by adding levels, so that nothing is ever moved while the program runs.
 */
#ifndef SHM_LIVE_H
#define SHM_LIVE_H

#include "shm/segment.h"

struct live_block {
	uint64_t size; /* requested bytes, below 2^48 */
	uint64_t tick; /* birth, clock_ns >> HT_TICK_SHIFT, below 2^40 */
	uint32_t site; /* below HT_SITES_MAX */
	uint32_t thread;
};

/*
 * Adds a block. 0; 1 when the address was already there: its free was missed, *old gets what it was
 * and the new block replaces it; -ENOSPC when no bucket has room and no level can be added.
 */
int live_insert(
	const struct segment *s, uint64_t addr, const struct live_block *b, struct live_block *old);
/* Takes a block out. False: it is not there. */
bool live_remove(const struct segment *s, uint64_t addr, struct live_block *out);
/* Looks without taking. */
bool live_find(const struct segment *s, uint64_t addr, struct live_block *out);

/* Unpacks a payload as stored. */
void live_unpack(const struct ht_live_payload *p, struct live_block *out);

struct live_probe {
	uint64_t blocks;
	uint64_t buckets_passed; /* sum over blocks of the buckets between home and place */
	uint64_t longest;
	uint64_t overflow; /* sum of all overflow counts: must equal buckets_passed when quiet */
};
/* Walks all levels. For tests and diagnostics, when quiet. */
void live_probe_length(const struct segment *s, struct live_probe *out);

#endif
