/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each thread of a recording of all events has done up to a moment, and what it allocated at
 * each call site. Blocks from before the recording are no thread's. One thread.
 */
#ifndef SRC_RECORD_EVENT_THREADS_H
#define SRC_RECORD_EVENT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include "src/record/event.h"

struct event_thread {
	uint64_t allocs, frees, alloc_bytes, free_bytes;
	uint64_t foreign_frees, foreign_bytes; /* of blocks that another thread allocated */
	uint64_t live_blocks, live_bytes; /* of the blocks that it allocated */
};

/* The allocations of a thread at a site. */
struct event_share {
	uint32_t site, slot; /* site: its index */
	uint64_t allocs, alloc_bytes;
	uint64_t live_blocks, live_bytes;
};

struct event_threads {
	struct event_thread *thread; /* owned; EVENT_SLOTS_MAX, by slot */
	struct event_share *share; /* owned; in the order in which they began */
	size_t nshares, room;
	uint32_t *table; /* owned; a hash of numbers of shares, + 1 */
	unsigned log2;
};

#define EVENT_SHARE_NONE 0u /* of a block that no thread allocated */

/* 0 or -ENOMEM. */
int event_threads_begin(struct event_threads *t);
/* Counts an allocation. Returns the number of its share, by which its free counts; NONE: no memory.
 */
uint32_t event_threads_alloc(struct event_threads *t, const struct event *e, uint32_t site);
/* Counts a free of a block of that share. */
void event_threads_free(struct event_threads *t, const struct event *e, uint32_t share);
void event_threads_end(struct event_threads *t);

#endif
