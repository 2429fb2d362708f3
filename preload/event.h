/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of an event that are out of the ordinary: a stack met for the first time, a counter to
 * be made, a free that was missed, a table that is full. The hot path (hot.h) and the long way
 * (record.c) are put together from these. Any thread, in hooks, with the re-entry guard held.
 */
#ifndef PRELOAD_EVENT_H
#define PRELOAD_EVENT_H

#include "preload/recorder.h"
#include "shm/live.h"
#include "shm/ring.h"

/* Takes the stack. `remembered`: what is known of it already (and is being checked), or NULL. */
struct guards_leaf *event_take_stack(
	struct recorder *r, uintptr_t frame, uint32_t function, struct guards_leaf *remembered);
/* A block whose counter has to be found, or made ready, first. */
void event_alloc_unprepared(
	struct recorder *r, struct guards_leaf *leaf, uint64_t addr, size_t size);
/* Blocks that no table has room for. */
void event_count_untracked(uint64_t blocks, uint64_t bytes);
/* The ends of blocks whose frees we did not see, which show when their addresses come back. */
void event_missed_frees(uint64_t addr, const struct live_block *old, unsigned count);
/* Puts a block into the live table, whatever is in its way there. False: there is no room. */
bool event_insert(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter);
/* The end of a block that is hidden or was sampled. */
void event_freed(struct recorder *r, uint64_t addr, const struct live_block *b, uint64_t tick);
/* The free of a block that is not in the live table, and so not ours to know. False: it is the
 * bootstrap arena's. */
bool event_unknown_free(const struct recorder *r, const void *p);

/* The end of a block that only the shared slot counts. */
void event_free_shared(uint64_t addr, const struct live_block *b);

static inline uint32_t event_slot(const struct recorder *r)
{
	return r ? r->slot : 0;
}

HT_HOT void event_append(const struct recorder *r, uint64_t addr, const struct live_block *b,
	uint32_t site, uint32_t kind)
{
	struct ht_event e = {
		.addr = addr, .size = b->size, .tick = b->tick, .site = site, .kind = kind
	};

	ring_append(r->counters.thread, r->ring, &e);
}

#endif
