/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of mapped memory: which ranges the program has mapped, by which site, and the counts
 * (shm/layout.h, "Mappings"). The library calls this around the program's mmap, munmap and their
 * like. Any thread, also in signal handlers; no malloc; errno may change.
 *
 * Order: a range leaves the table before the kernel gets it back (mappings_take), since another
 * thread may get the address before the call returns; and enters after the kernel gave it
 * (mappings_enter). A call that fails puts back what was taken. Counts change when it is known how
 * the call ended.
 *
 * Lock: one word, which is only ever tried. A call that finds it taken, by another thread or by
 * code that a signal handler interrupted, is queued. The lock's holder applies the queue in
 * order; that is correct, since a call is queued before its thread continues to the kernel.
 * Queued calls take up at most half of the table. If there is no room, a call waits until the
 * holder has made room or is done, for at most a second of processor time, and without a system
 * call, for which a sandbox might kill the program. If a holder never returns (a thread ended
 * from outside, a handler that left it by longjmp), or is stopped, one call waits for half a
 * second, and all are counted as untracked until the holder makes progress.
 */
#ifndef SHM_MAPPINGS_H
#define SHM_MAPPINGS_H

#include "shm/mappings_table.h"

/* What was taken out of the table by one call. Zeros: nothing. */
struct mappings_taken {
	uint32_t list; /* entries; 0: none */
	uint32_t queued; /* the entry of the queued call; 0: it was applied */
	uint64_t start, end; /* of the call; empty for what shmat attached */
	uint64_t asked; /* bytes; those not in the table count as unknown. The caller
			   may set it to 0: nothing need have been there */
	bool missed; /* it could not even be queued */
};

/* Takes out what lies in [start, end). */
struct mappings_taken mappings_take(const struct segment *s, uint64_t start, uint64_t end);
/* Takes out the whole block that shmat attached at `start`. */
struct mappings_taken mappings_take_attached(const struct segment *s, uint64_t start);
/* The memory is unmapped: counts it. One of these two follows each of the above. */
void mappings_gone(const struct segment *s, const struct mappings_taken *t);
/* The call failed: puts it back. */
void mappings_put_back(const struct segment *s, const struct mappings_taken *t);
/* Enters a block, after what it replaces is gone. What cannot be entered is counted. */
void mappings_enter(const struct segment *s, const struct mappings_block *b);

/* Pools (HT_POOL_SPACE): `start` and `end` are in that space. Nothing has to follow; where no block
 * is, nothing happens. */
/* The block that starts at `start` is gone, */
void mappings_pool_free(const struct segment *s, uint64_t start);
/* all that lies in [start, end), */
void mappings_pool_reset(const struct segment *s, uint64_t start, uint64_t end);
/* or the blocks of one pool, by its number, that start there. */
void mappings_pool_end(const struct segment *s, uint64_t start, uint64_t end, uint32_t pool);

#endif
