/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slow path of the directly mapped part of the live table: pieces that are not in their usual
 * place or do not exist yet, memory not yet populated, entries that are not free, blocks of the
 * smallest extents. The fast path is in shm/live.h, with the reasons why plain stores suffice. Any
 * thread, inside hooks: no locks, no system calls but those that populate memory.
 */
#ifndef SHM_LIVE_DIRECT_H
#define SHM_LIVE_DIRECT_H

#include "shm/live_entry.h"
#include "shm/commit.h"

/* Inserts a block with an address that is in no entry. Retires blocks that own its granules: adds
 * them to old[*missed]. False: this part cannot take it, and nothing was changed. */
bool live_direct_put(const struct segment *s, uint64_t addr, const struct live_block *b,
	struct live_block *old, unsigned *missed);
/* Removes a block. False: it is not there. */
bool live_direct_take(const struct segment *s, uint64_t addr, struct live_block *out);
bool live_direct_find(const struct segment *s, uint64_t addr, struct live_block *out);
/* Finds the block at `addr` that was freed last, as far as no later one has taken its entry. The
 * size of a large one is lost: it is 0. */
bool live_direct_former(const struct segment *s, uint64_t addr, struct live_block *out);
/* Marks the page of `addr`, before a block goes to the overflow: insertions there must search it.
 */
void live_direct_mark(const struct segment *s, uint64_t addr);
/* Blocks in all pieces. For tests and diagnostics, when quiet. */
uint64_t live_direct_count(const struct segment *s);

#endif
