/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All blocks that are in use in the heaps of glibc's malloc, found by walking from chunk to chunk,
 * in a process that stands still or in a copy of one. Nothing that is read there is trusted: a row
 * of chunks counts only if it ends where malloc ends it. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_HEAP_WALK_H
#define SRC_LEAK_ANALYSIS_HEAP_WALK_H

#include "src/leak/access/space.h"
#include "src/leak/analysis/blocks.h"

struct leak_heap_walk {
	unsigned arenas; /* 0: there is no heap of glibc's, or none was understood */
	bool whole; /* everything added up */
};

/* Appends the blocks to `out`: usable sizes, no sites, no births, in any order, without the
 * threads' caches, which the program has not asked for. 0, -ENOMEM, -E2BIG, -ECANCELED. */
int leak_heap_walk(struct leak_space *s, struct leak_blocks *out, struct leak_heap_walk *w);
/* The same for who needs all or nothing, of a process that may go on: ends at the first heap that
 * does not add up. */
int leak_heap_walk_whole(struct leak_space *s, struct leak_blocks *out, struct leak_heap_walk *w);

#endif
