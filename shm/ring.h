/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline: one ring per thread slot, single producer, overwriting. The producer never waits
 * and never looks at a reader; a reader learns from the head what it lost. The shared slot 0 has no
 * records: its head only counts, and all its events are lost to readers.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include "shm/thread.h"

/* Appends an event to the calling thread's ring. */
void ring_push(const struct segment *s, uint32_t slot, const struct ht_event *e);

/*
 * How a reader gets at a ring: `head` loads ht_thread.ring_head with acquire; `record` copies
 * record number `index` (0 to HT_RING_EVENTS - 1). Either may return -errno, which ends the read.
 */
struct ring_source {
	void *ctx;
	int (*head)(void *ctx, uint64_t *head);
	int (*record)(void *ctx, uint32_t index, struct ht_event *e);
};

/*
 * Copies events from *cursor on (0 at first) into `out`, oldest first, at most `max`; advances
 * *cursor past them, and adds to *lost those that were overwritten before they could be copied or
 * never written for want of memory. Every event given out is whole. Returns how many, or -errno.
 * Any process.
 */
int ring_read(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, uint64_t *lost);

#endif
