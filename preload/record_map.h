/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records the mapping calls that a hook sees (shm/mappings.h). Any thread, also in signal handlers;
 * keeps errno. A hook removes ranges before the call that unmaps them, and reports afterwards
 * whether the call succeeded; it enters a block after the call that maps it. The blocks of pools,
 * which the program reports, are recorded in the same way.
 */
#ifndef PRELOAD_RECORD_MAP_H
#define PRELOAD_RECORD_MAP_H

#include "preload/state.h"
#include "shm/mappings.h"

/* What a call is about to unmap. Zeros: nothing. */
struct record_map {
	const struct ht_header *segment; /* where it was taken from; NULL: nothing is recorded */
	struct mappings_taken taken;
	uint32_t session; /* as of state_session */
};

/* Takes out the whole pages that [start, start + bytes) touches, */
struct record_map record_map_take(uint64_t start, uint64_t bytes);
/* exactly these bytes, for brk, */
struct record_map record_map_take_bytes(uint64_t start, uint64_t end);
/* or what shmat attached at `start`. */
struct record_map record_map_take_attached(uint64_t start);
/* For MAP_FIXED, which need not unmap anything: what was not mapped there is no surprise. */
struct record_map record_map_take_if_mapped(uint64_t start, uint64_t bytes);
/* How the call ended. */
void record_map_end(const struct record_map *m, bool unmapped);

/* A call that mapped [start, end). `frame`: the hook's (record.h). */
struct record_map_block {
	uint64_t start, end;
	uint32_t function; /* enum ht_function */
	enum ht_mapping_kind kind;
	uint32_t pool; /* as in struct mappings_block */
};
void record_map_enter(uintptr_t frame, const struct record_map_block *b);

/* Blocks of a pool, at addresses as the program has them: one that begins at `start`, of the pool
 * with the number `pool`, or 0; the end of that one; the end of all in a range, or of those in it
 * that are of one pool. */
void record_map_pool_alloc(uintptr_t frame, uint64_t start, uint64_t bytes, uint32_t pool);
void record_map_pool_free(uint64_t start);
void record_map_pool_reset(uint64_t start, uint64_t bytes);
void record_map_pool_end(uint64_t start, uint64_t end, uint32_t pool);

/* Rounds up to whole pages; with overflow 0. */
uint64_t record_map_pages(uint64_t bytes);

#endif
