/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes this process's code, and provides pads for it. No page is ever writable and executable at
 * once. At start, and under the loader's lock.
 */
#ifndef PRELOAD_INNER_MEMORY_H
#define PRELOAD_INNER_MEMORY_H

#include "preload/patch/entry.h"

/* Code is written through /proc/self/mem; where that is impossible, by making its pages writable
 * and then executable again, in which time nobody may run there: so it may only be code that no
 * other thread can be in, as entry.h has it anyway. */
struct entry_memory inner_memory_open(void);
void inner_memory_close(struct entry_memory *m);

/* Writable memory for pads of the code in [start, end). NULL: none. */
void *inner_memory_pads(uint64_t start, uint64_t end, size_t bytes);
/* Makes them executable. 0 or -errno. */
int inner_memory_seal(void *pads);
/* The bytes of all pads, and where the first are. */
uint64_t inner_memory_all(uint64_t *first);
/* Nobody will run there again: they are for the next. */
void inner_memory_release(void *pads);

#endif
