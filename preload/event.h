/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rare parts of an event: a stack met for the first time, a counter to create, a missed free, a
 * full table. The hot path (hot.h) and the slow path (record.c) are built from these. Any thread,
 * in hooks, with the re-entry guard held.
 */
#ifndef PRELOAD_EVENT_H
#define PRELOAD_EVENT_H

#include "preload/recorder.h"
#include "shm/live.h"
#include "shm/ring.h"

/* Unwinds the stack and finds its site. `remembered`: the leaf known so far, which is being
 * checked, or NULL. */
struct stack_cache_leaf *event_take_stack(struct recorder *r, uintptr_t frame, uint32_t function,
	struct stack_cache_leaf *remembered);
/* Records an allocation whose counter must first be found or prepared. `entry`: as live_place. */
void event_alloc_unprepared(struct recorder *r, struct stack_cache_leaf *leaf, uint64_t *entry,
	uint64_t addr, size_t size);
/* Counts blocks that no table has room for. */
void event_count_untracked(uint64_t blocks, uint64_t bytes);
/* Counts allocations that returned NULL. `r` may be NULL. */
void event_count_failed(const struct recorder *r, uint64_t count);
/* Counts the frees of blocks whose frees were missed; a reused address reveals them. */
void event_missed_frees(uint64_t addr, const struct live_block *old, unsigned count);
/* Inserts a block into the live table and retires any block in its place. False: there is no room.
 */
bool event_insert(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter);
/* Inserts a block, born now, into the live table, at `entry` unless that is NULL. False: there is
 * no room. */
HT_HOT bool event_insert_at(uint64_t *entry, uint64_t addr, size_t size, uint32_t counter)
{
	if (__builtin_expect(!entry, 0))
		return event_insert(addr, size, segment_tick(&state_segment), counter);
	live_store(entry, addr, size, segment_birth(&state_segment), counter);
	return true;
}

/*
 * `function`, below: the one that frees. `want`: the size that it passes, or EVENT_ANY_SIZE. A
 * mismatch is recorded with the stack of the active hook.
 */
#define EVENT_ANY_SIZE UINT64_MAX

/* Counts the free of a block that was taken out of the live table, a hidden or sampled one, too.
 * Returns whether it counts. */
bool event_freed(
	struct recorder *r, uint64_t addr, const struct live_block *b, enum ht_function function);
/* Counts the free of an exactly recorded block, with a counter that is another thread's, or of
 * another family. Returns its site. */
uint32_t event_freed_foreign(struct recorder *r, uint64_t addr, uint32_t counter,
	const struct counter_freed *end, enum ht_function function);
/* Records that a block of `size` bytes is freed as one of `want` bytes, unless its family is wrong,
 * too: that is recorded as the block's free is counted. */
void event_wrong_size(struct recorder *r, uint64_t addr, uint32_t counter, uint64_t size,
	uint64_t want, enum ht_function function);
/* For a free without a recorder: checks its function and size. */
void event_check_shared(
	uint64_t addr, const struct live_block *b, enum ht_function function, uint64_t want);
/* Frees a block whose entry is not the usual one, or hidden: `entry` is what live_take returned, 0
 * if the block is still in the live table. False: the block is the bootstrap arena's. *counts: its
 * free counts. */
bool event_free_unusual(struct recorder *r, const void *p, uint64_t entry,
	enum ht_function function, uint64_t want, bool *counts);
/* Whether `p`, which is not in the live table, is a block from before the recording (shm/before.h).
 * Asks its allocator for its size, which goes to *usable: it is still the program's. */
bool event_is_before(const void *p, uint64_t *usable);
/* Counts its free. */
void event_before_free(struct recorder *r, const void *p, uint64_t usable);
/* Counts the free of a block that is not in the live table, and so is unknown. False: it is the
 * bootstrap arena's. */
bool event_unknown_free(struct recorder *r, const void *p, enum ht_function function);

/* Counts the free of a block in the shared slot only. */
void event_free_shared(uint64_t addr, const struct live_block *b);

/* The lifetime of a block that is freed now. */
static inline uint64_t event_life(uint64_t birth)
{
	uint64_t now = segment_tick(&state_segment), then = live_tick((uint32_t)birth);

	return now > then ? now - then : 0;
}

static inline uint32_t event_slot(const struct recorder *r)
{
	return r ? r->slot : 0;
}

/* Writes an event to the thread's ring, or waits for a viewer that must not miss any. */
void event_write(struct recorder *r, uint64_t addr, uint64_t size, uint32_t site, uint32_t kind);
/* Writes an event of the shared slot, if a viewer wants events. */
void event_append_shared(uint64_t addr, uint64_t size, uint32_t site, uint32_t kind);

/* Writes an event of this thread, if a viewer wants events. */
HT_HOT void event_append(
	struct recorder *r, uint64_t addr, uint64_t size, uint32_t site, uint32_t kind)
{
	if (__builtin_expect(r->events, 0))
		event_write(r, addr, size, site, kind);
}

#endif
