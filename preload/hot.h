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

/* An allocation by `function`. `checks`: remembered stacks are unwound again, and compared. */
struct hot_alloc {
	uintptr_t frame;
	void *p;
	size_t size;
	enum ht_function function;
	bool checks;
};

/* The free of a block that was taken out of the live table. */
struct hot_freed {
	uint64_t addr, size;
	uint32_t counter, birth; /* birth: of its entry */
	enum ht_function function;
};

/* Out of line: a block without the ordinary place in the live table, or NULL. */
void hot_alloc_unplaced(struct recorder *r, const struct hot_alloc *a);
/* Out of line: count the event, and write it for a viewer. */
void hot_alloc_written(struct recorder *r, const struct hot_alloc *a);
void hot_freed_written(struct recorder *r, const struct hot_freed *f);

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

/* Counts an allocation, and returns the leaf of its stack; NULL: it was an unusual one, which is
 * dealt with. Computes first the addresses of the stack's record and of the block's entry, last the
 * values to write: so the processor overlaps the two cache misses. */
HT_HOT struct stack_cache_leaf *hot_alloc_counted(struct recorder *r, const struct hot_alloc *a)
{
	struct stack_cache_record *root = stack_cache_root(&r->guards, a->frame);
	uint64_t addr = (uint64_t)(uintptr_t)a->p, *entry;
	struct counter_found found;
	struct stack_cache_leaf *leaf;
	uint32_t counter;

	__asm__ volatile("" : "+r"(root));
	entry = live_place(&state_segment, addr, a->size);
	if (__builtin_expect(!entry, 0)) {
		struct hot_alloc other = *a; /* the ordinary one stays in registers */

		hot_alloc_unplaced(r, &other);
		return NULL;
	}
	leaf = hot_leaf(r, root, a->frame, a->function, a->checks);
	counter = leaf->counter;
	if (__builtin_expect(
		    !counter_find(&state_segment, &r->counters, counter, a->size, &found), 0)) {
		event_alloc_unprepared(r, leaf, entry, addr, a->size);
		return NULL;
	}
	r->last_block = addr;
	live_store(entry, addr, a->size, segment_birth(&state_segment), counter);
	counter_alloc_found(&state_segment, &r->counters, &found, a->size);
	return leaf;
}

HT_HOT void hot_alloc_recorded(struct recorder *r, const struct hot_alloc *a)
{
	if (__builtin_expect(tick_count(r), 0)) {
		struct hot_alloc other = *a; /* the ordinary one stays in registers */

		hot_alloc_written(r, &other);
	} else {
		(void)hot_alloc_counted(r, a);
	}
}

/* Counts the free, by `function`, of a block that was taken out of the live table: an exactly
 * recorded one. Mostly its counter is this thread's, and its function is of the same family.
 * Returns its site. */
HT_HOT uint32_t hot_freed_counted(struct recorder *r, const struct hot_freed *f)
{
	struct counter_freed end = { .size = f->size, .temporary = r->last_block == f->addr };
	uint64_t site = counter_own_site(&r->counters, f->counter, ht_family(f->function));

	if (f->birth != segment_birth(&state_segment))
		end.life_ticks = event_life(f->birth);
	if (__builtin_expect(site >= HT_SITES_MAX, 0)) {
		struct counter_freed other = end; /* the ordinary one stays in registers */

		return event_freed_foreign(r, f->addr, f->counter, &other, f->function);
	}
	counter_free_own(&state_segment, &r->counters, f->counter, &end);
	return (uint32_t)site;
}

HT_HOT void hot_freed_recorded(struct recorder *r, const struct hot_freed *f)
{
	if (__builtin_expect(tick_count(r), 0)) {
		struct hot_freed other = *f;

		hot_freed_written(r, &other);
	} else {
		(void)hot_freed_counted(r, f);
	}
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
	hot_freed_recorded(
		r, &(struct hot_freed){ addr, size, counter, live_entry_birth(entry), function });
	r->last_block = 0;
	*counts = true;
	return true;
}

#endif
