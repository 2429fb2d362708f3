/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Diagnoses a free of an address that is not a live block. In hooks, on any thread, with the
 * re-entry guard held; off the ordinary path.
 */
#ifndef PRELOAD_WRONG_FREE_H
#define PRELOAD_WRONG_FREE_H

#include "preload/state.h"
#include "shm/live_entry.h"
#include "shm/wrong_frees.h"

/* A block was allocated that is not recorded: an unknown free may be of that. */
void wrong_free_missed(void);
/* The program's own code may allocate without calling what is recorded: it has malloc inside. So a
 * free of what was freed before may be of a block that is not recorded. */
void wrong_free_bypassed(void);
/* Recording begins in the middle of the program's life: blocks from before are no wrong frees, nor
 * are those that threads were just allocating. */
void wrong_free_attached(void);
/* A block that the usual path did not find was freed. */
void wrong_free_former(uint64_t addr, const struct live_block *b);
/* Explains the free of `addr`, which is no live block. False: the program may be right, since
 * blocks exist that this segment does not know: those from before a fork or before recording began,
 * and those that no table had room for. */
bool wrong_free_explain(uint64_t addr, struct wrong_free *out);

#endif
