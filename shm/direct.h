/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directly mapped part of the live table, in full: pieces that are not in their usual place or
 * not there yet, memory not yet populated, entries that are not free, blocks of the smallest
 * extents. The usual ways are in shm/live.h, with the reasons why plain stores will do. Any thread,
 * inside hooks: no locks, no system calls but those that populate memory.
 */
#ifndef SHM_DIRECT_H
#define SHM_DIRECT_H

#include "shm/live_entry.h"
#include "shm/commit.h"

/*
 * Puts a block in, whose address is known to be in no entry. Blocks that had its granules end:
 * they are added to old[*missed]. False: this part cannot take it, and nothing was changed.
 */
bool direct_put(const struct segment *s, uint64_t addr, const struct live_block *b,
	struct live_block *old, unsigned *missed);
/* Takes a block out. False: it is not there. */
bool direct_take(const struct segment *s, uint64_t addr, struct live_block *out);
bool direct_find(const struct segment *s, uint64_t addr, struct live_block *out);
/* A block at `addr` is about to be put elsewhere: insertions there must look for it. */
void direct_mark(const struct segment *s, uint64_t addr);
/* Blocks in all pieces. For tests and diagnostics, when quiet. */
uint64_t direct_count(const struct segment *s);

#endif
