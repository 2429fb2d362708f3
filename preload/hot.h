/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hot path of an ordinary malloc and free, inlined into their hooks: one test whether this
 * thread may record at once, the remembered stack, the live table, the counters. Nothing
 * here locks or makes a system call; rare cases are event.c's.
 */
#ifndef PRELOAD_HOT_H
#define PRELOAD_HOT_H

#include "preload/event.h"
#include "preload/tick.h"

/* Finds the leaf of the stack at `frame`. `root`: the first record for that frame. `checks`:
 * remembered stacks are unwound again, and compared. */
HT_HOT struct stack_cache_leaf *hot_leaf(struct recorder *r, struct stack_cache_record *root,
	uintptr_t frame, uint32_t function, bool checks)
{
	struct stack_cache_leaf *leaf = stack_cache_find(&r->guards, root, frame, function);

	if (__builtin_expect(!leaf || checks, 0))
		leaf = event_take_stack(r, frame, function, leaf);
	return leaf;
}

/* Computes first the addresses of the stack's record and of the block's entry, last the values to
 * write: so the processor overlaps the two cache misses. */
HT_HOT void hot_alloc_recorded(struct recorder *r, uintptr_t frame, void *p, size_t size,
	enum ht_function function, bool checks)
{
	struct stack_cache_record *root = stack_cache_root(&r->guards, frame);
	uint64_t addr = (uint64_t)(uintptr_t)p, *entry;
	struct counter_found found;
	struct stack_cache_leaf *leaf;
	uint32_t counter;

	__asm__ volatile("" : "+r"(root));
	entry = live_place(&state_segment, addr, size);
	tick_count(r);
	leaf = hot_leaf(r, root, frame, function, checks);
	counter = leaf->counter;
	if (__builtin_expect(
		    !counter_find(&state_segment, &r->counters, counter, size, &found), 0)) {
		event_alloc_unprepared(r, leaf, entry, addr, size);
		return;
	}
	r->last_block = addr;
	if (__builtin_expect(!event_insert_at(entry, addr, size, counter), 0)) {
		event_count_untracked(1, size);
		return;
	}
	counter_alloc_found(&state_segment, &r->counters, &found, size);
	event_append(r, addr, size, leaf->site, HT_EVENT_ALLOC);
}

/* Counts the free, by `function`, of a block that was taken out of the live table: an exactly
 * recorded one. Mostly its counter is this thread's, and its function is of the same family. */
HT_HOT void hot_freed(struct recorder *r, uint64_t addr, uint64_t size, uint32_t counter,
	uint32_t birth, enum ht_function function)
{
	struct counter_freed end = { .size = size, .temporary = r->last_block == addr };
	uint64_t site = counter_own_site(&r->counters, counter, ht_family(function));

	tick_count(r);
	if (birth != segment_birth(&state_segment))
		end.life_ticks = event_life(birth);
	if (__builtin_expect(site >= HT_SITES_MAX, 0)) {
		struct counter_freed other = end; /* the ordinary one stays in registers */

		site = event_freed_foreign(r, addr, counter, &other, function);
	} else {
		counter_free_own(&state_segment, &r->counters, counter, &end);
	}
	event_append(r, addr, size, (uint32_t)site, HT_EVENT_FREE);
}

/* `function` frees a block of `want` bytes, or EVENT_ANY_SIZE. False: the block is the bootstrap
 * arena's. *counts: the free of this block counts. */
HT_HOT bool hot_free_recorded(
	struct recorder *r, void *p, enum ht_function function, uint64_t want, bool *counts)
{
	uint64_t addr = (uint64_t)(uintptr_t)p, size;
	uint64_t entry = live_take(&state_segment, addr, &size);
	uint32_t counter = live_entry_counter(entry);

	if (__builtin_expect(!entry || counter == HT_COUNTER_HIDDEN, 0))
		return event_free_unusual(r, p, entry, function, want, counts);
	if (want != EVENT_ANY_SIZE && __builtin_expect(size != want, 0))
		event_wrong_size(r, addr, counter, size, want, function);
	hot_freed(r, addr, size, counter, live_entry_birth(entry), function);
	r->last_block = 0;
	*counts = true;
	return true;
}

#endif
