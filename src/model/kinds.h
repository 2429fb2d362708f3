/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kinds of memory a snapshot shows: blocks of the heap, what the program has mapped from the
 * kernel, or both. A derived snapshot has the sites of those kinds as its sites and their sums as
 * its totals, so that every view works on them. Main thread.
 */
#ifndef SRC_MODEL_KINDS_H
#define SRC_MODEL_KINDS_H

#include "src/model/snapshot.h"

enum kinds {
	KINDS_HEAP, /* the snapshot as it is made */
	KINDS_MAPPED, /* mmap, brk, shm */
	KINDS_BOTH,
	KINDS_POOL, /* blocks that the program reports: they lie in blocks of the others */
	KINDS_COUNT
};

/* "heap", "mapped", "heap + mapped", "pools". Static. */
const char *kinds_word(enum kinds kinds);
/* Whether the snapshot has what these show. */
bool kinds_has(const struct snapshot *s, enum kinds kinds);
/* The next that the snapshot has, after these. */
enum kinds kinds_next(const struct snapshot *s, enum kinds kinds);
/*
 * The snapshot with these kinds. Takes the caller's reference of `s` and returns one; `s` itself
 * for KINDS_HEAP, for kinds that it does not have, and without memory. Sizes, lifetimes, threads,
 * allocation rates and the history are the heap's alone: of mapped memory they are 0.
 */
struct snapshot *kinds_take(struct snapshot *s, enum kinds kinds);

#endif
