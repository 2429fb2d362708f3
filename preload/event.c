/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rare parts of an event (event.h). In hooks, on any thread, with the re-entry guard held. No
 * locks, and no system calls but those that take fresh memory.
 */
#include "preload/event.h"

#include <errno.h>

#include "preload/event_wait.h"
#include "preload/freed.h"
#include "preload/ignored.h"
#include "preload/next_allocator.h"
#include "preload/reentry.h"
#include "preload/sample.h"
#include "preload/tick.h"
#include "preload/unwind.h"
#include "preload/wrong_free.h"
#include "shm/before.h"

/* Whether a site is that of many stacks: those without room, which may have found room since, or
 * ignored ones. */
static bool is_of_many(uint32_t site)
{
	return (stack_site(&state_segment, site)->flags & HT_SITE_ANCESTOR) != 0 ||
	       ignored_is_site(site);
}

/* The site's counter if it is the one of the same number, as in a program with one thread, or 0. A
 * guess that holds saves the way through counter_prepare. It is a branch, not a value computed from
 * what the counter's line says: that line mostly has to come from memory, and the event goes on
 * meanwhile. */
static uint32_t counter_guess(const struct recorder *r, uint32_t site)
{
	if (__builtin_expect(site >= ht_load_relaxed_32(&state_segment.header->counters) ||
				     !counter_is_own(&r->counters, site, site),
		    0))
		return 0;
	__asm__("" : "+r"(site));
	return site;
}

/* The site of the stack in r->unwind, which becomes the path of the thread's last stack. */
static uint32_t site_take(struct recorder *r, uint32_t function, uint32_t expected, bool path_whole)
{
	const struct unwind *u = &r->unwind;
	const struct stack_trace t = { function, u->count, u->truncated, u->pcs, u->modules,
		r->path, path_whole ? u->kept : 0 };
	uint32_t site = stack_intern(&state_segment, &t);

	if (site != expected) {
		__builtin_prefetch(&r->counters.counters[site]);
		__builtin_prefetch(&r->counters.owners[site]);
	}
	ht_fence_handler();
	r->path_whole = true;
	return site;
}

/* Gives the stack in r->unwind, of `own` site, a leaf of `site`. `sites`: there were so many. */
static struct stack_cache_leaf *leaf_keep(
	struct recorder *r, uint32_t function, uint32_t own, uint32_t site, uint32_t sites)
{
	struct stack_cache_leaf *leaf =
		stack_cache_keep(&r->guards, &r->unwind, function, site, own < sites);

	if (__builtin_expect(site != own, 0))
		stack_cache_apart(&r->guards);
	return leaf;
}

/* A remembered stack was unwound again. */
static void leaf_check(struct recorder *r, struct stack_cache_leaf *leaf, uint32_t site)
{
	if (leaf->site != site && !is_of_many(leaf->site))
		ht_add_relaxed_64(&state_segment.header->unwinds_wrong, 1);
	stack_cache_unwound(&r->guards, &r->unwind, leaf);
	if (ignored_is_site(leaf->site))
		stack_cache_apart(&r->guards);
}

/* Unwinds the stack. */
static struct stack_cache_leaf *leaf_take(
	struct recorder *r, uintptr_t frame, uint32_t function, struct stack_cache_leaf *remembered)
{
	uint32_t expected = stack_expect(&state_segment, r->path), own = 0, site = 0,
		 sites = ht_load_relaxed_32(&state_segment.header->sites);
	bool path_whole = r->path_whole;

	__builtin_prefetch(&r->counters.counters[expected]);
	__builtin_prefetch(&r->counters.owners[expected]);
	stack_cache_unwinding(&r->guards);
	/* Until both are of this stack: a handler may abandon this in between. */
	r->path_whole = false;
	ht_fence_handler();
	r->unwind.frame = frame;
	unwind_take(&r->unwind);
	if (__builtin_expect(r->ignore_round != 0, 0))
		site = ignored_site(r, function, remembered != NULL);
	if (__builtin_expect(site == 0, 1)) {
		own = site = site_take(r, function, expected, path_whole);
		if (__builtin_expect(r->ignore_round != 0, 0))
			site = ignored_site_of(own, function);
	}
	if (!remembered)
		return leaf_keep(r, function, own, site, sites);
	leaf_check(r, remembered, site);
	return remembered;
}

/* The leaf of a stack that need not be unwound, since a viewer ignores it; or NULL. */
static struct stack_cache_leaf *leaf_ignored(struct recorder *r, uintptr_t frame, uint32_t function,
	struct stack_cache_leaf **remembered)
{
	if (ignored_forget(r))
		*remembered = NULL;
	return *remembered ? NULL : ignored_leaf(r, frame, function);
}

struct stack_cache_leaf *event_take_stack(
	struct recorder *r, uintptr_t frame, uint32_t function, struct stack_cache_leaf *remembered)
{
	int saved = errno;
	struct stack_cache_leaf *leaf = NULL;

	if (__builtin_expect(r->ignore_round != 0, 0))
		leaf = leaf_ignored(r, frame, function, &remembered);
	if (__builtin_expect(!leaf, 1))
		leaf = leaf_take(r, frame, function, remembered);
	if (leaf->counter == 0)
		leaf->counter = counter_guess(r, leaf->site);
	errno = saved;
	return leaf;
}

void event_count_untracked(uint64_t blocks, uint64_t bytes)
{
	ht_add_relaxed_64(&state_segment.header->untracked_blocks, blocks);
	ht_add_relaxed_64(&state_segment.header->untracked_bytes, bytes);
}

void event_count_failed(const struct recorder *r, uint64_t count)
{
	uint32_t slot = event_slot(r);

	thread_add(slot, &thread_at(&state_segment, slot)->failed, count);
}

static struct ht_event event_make(uint64_t addr, uint64_t size, uint32_t site, uint32_t kind)
{
	return (struct ht_event){ .addr = addr,
		.size = size,
		.tick = segment_tick(&state_segment),
		.site = site,
		.kind = kind };
}

void event_write(struct recorder *r, uint64_t addr, uint64_t size, uint32_t site, uint32_t kind)
{
	struct ht_thread *t = r->thread;
	struct ht_event e = event_make(addr, size, site, kind);

	if (ht_load_relaxed_64(&t->ring_head) >= r->ring_limit)
		r->ring_limit = event_wait(r);
	ring_append(t, r->ring, &e);
}

void event_append_shared(uint64_t addr, uint64_t size, uint32_t site, uint32_t kind)
{
	struct ht_event e = event_make(addr, size, site, kind);
	int saved = errno;

	if (ring_is_wanted(&state_segment))
		ring_push_shared(&state_segment, &e);
	errno = saved;
}

/* Counts the free of a block, a sampled one by its original weight. */
static void count_freed(struct counter_owner *o, uint64_t addr, const struct live_block *b,
	const struct counter_freed *end)
{
	uint32_t counter = live_counter(b), rate = live_rate(b);
	struct poisson_weight w;

	if (counter == HT_COUNTER_HIDDEN)
		return;
	if (rate == 0) {
		(void)counter_free_block(&state_segment, o, counter, end);
		return;
	}
	sample_release(addr);
	w = poisson_weight(addr, b->size, rate);
	(void)counter_free_sampled_block(&state_segment, o, counter, end, &w);
}

void event_free_shared(uint64_t addr, const struct live_block *b)
{
	struct counter_freed end = { .size = b->size };

	if (live_counter(b) == HT_COUNTER_HIDDEN)
		return;
	count_freed(&recorder_shared, addr, b, &end);
	event_append_shared(
		addr, b->size, counter_site(&recorder_shared, live_counter(b)), HT_EVENT_FREE);
}

/* ---- wrong frees ---- */

/* The site of the active hook, which frees. Without a recorder, the catch-all. */
static uint32_t freeing_site(struct recorder *r, enum ht_function function)
{
	uintptr_t frame = state_thread.busy & ~(uintptr_t)1; /* reentry.h */
	struct stack_cache_leaf *leaf;

	if (!r || frame == 0)
		return 0;
	leaf = stack_cache_find(&r->guards, stack_cache_root(&r->guards, frame), frame, function);
	return leaf ? leaf->site : event_take_stack(r, frame, function, NULL)->site;
}

static void free_remember(struct recorder *r, uint64_t addr, enum ht_function function)
{
	if (freed_is_on())
		freed_note(addr, freeing_site(r, function));
}

static void wrong_note(struct recorder *r, enum ht_function function, const struct wrong_free *what)
{
	wrong_frees_add(&state_segment, what, freeing_site(r, function));
}

/* Whether the block is of another family than `function`; unknown ones are not. */
static bool is_mismatched(
	const struct counter_owner *o, uint32_t counter, enum ht_function function)
{
	uint32_t family = counter_family(o, counter), freeing = ht_family(function);

	return family != HT_FAMILY_ANY && freeing != HT_FAMILY_ANY && family != freeing;
}

static void family_check(struct recorder *r, uint64_t addr, uint32_t counter, uint64_t size,
	enum ht_function function)
{
	const struct counter_owner *o = r ? &r->counters : &recorder_shared;
	struct wrong_free what = { .kind = HT_WRONG_MISMATCHED, .addr = addr, .bytes = size };

	if (!is_mismatched(o, counter, function))
		return;
	what.alloc_site = counter_site(o, counter);
	wrong_note(r, function, &what);
}

void event_wrong_size(struct recorder *r, uint64_t addr, uint32_t counter, uint64_t size,
	uint64_t want, enum ht_function function)
{
	const struct counter_owner *o = r ? &r->counters : &recorder_shared;
	struct wrong_free what = {
		.kind = HT_WRONG_SIZED, .addr = addr, .bytes = size, .want = want
	};

	if (is_mismatched(o, counter, function))
		return;
	what.alloc_site = counter_site(o, counter);
	wrong_note(r, function, &what);
}

void event_check_shared(
	uint64_t addr, const struct live_block *b, enum ht_function function, uint64_t want)
{
	if (live_counter(b) == HT_COUNTER_HIDDEN)
		return;
	family_check(NULL, addr, live_counter(b), b->size, function);
	if (want != EVENT_ANY_SIZE && want != b->size)
		event_wrong_size(NULL, addr, live_counter(b), b->size, want, function);
}

uint32_t event_freed_foreign(struct recorder *r, uint64_t addr, uint32_t counter,
	const struct counter_freed *end, enum ht_function function)
{
	family_check(r, addr, counter, end->size, function);
	free_remember(r, addr, function);
	return counter_free_foreign(&state_segment, &r->counters, counter, end);
}

/* ---- rare frees ---- */

/* A sampled block is temporary if its thread has allocated no other since; bypassing frees in
 * between were not seen. */
bool event_freed(
	struct recorder *r, uint64_t addr, const struct live_block *b, enum ht_function function)
{
	uint64_t tick = tick_now(r);
	struct counter_freed end = { .size = b->size,
		.temporary = r->last_block == addr &&
			     (live_rate(b) == 0 || r->last_gap_left == state_thread.gap_left),
		.life_ticks = tick > b->tick ? tick - b->tick : 0 };

	if (live_counter(b) == HT_COUNTER_HIDDEN)
		return false;
	family_check(r, addr, live_counter(b), b->size, function);
	free_remember(r, addr, function);
	count_freed(&r->counters, addr, b, &end);
	event_append(r, addr, b->size, counter_site(&r->counters, live_counter(b)), HT_EVENT_FREE);
	return true;
}

bool event_free_unusual(struct recorder *r, const void *p, uint64_t entry,
	enum ht_function function, uint64_t want, bool *counts)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct live_block b;

	bool ours = true;

	*counts = false;
	if (!p)
		return true;
	if (!entry) {
		if (live_remove_slow(&state_segment, addr, &b)) {
			if (want != EVENT_ANY_SIZE && want != b.size &&
				live_counter(&b) != HT_COUNTER_HIDDEN)
				event_wrong_size(r, addr, live_counter(&b), b.size, want, function);
			wrong_free_former(addr, &b);
			*counts = event_freed(r, addr, &b, function);
		} else {
			ours = event_unknown_free(r, p, function);
		}
	}
	r->last_block = 0;
	return ours;
}

void event_missed_frees(uint64_t addr, const struct live_block *old, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (old[i].counter != HT_COUNTER_HIDDEN)
			ht_add_relaxed_64(&state_segment.header->missed_frees, 1);
		/* A sampled block had this very address; for the others it is irrelevant. */
		event_free_shared(addr, &old[i]);
	}
}

bool event_insert(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter)
{
	struct live_block old[LIVE_MISSED_MAX];
	unsigned missed = live_insert_slow(&state_segment, addr, size, tick, counter, old);

	event_missed_frees(addr, old, missed & ~LIVE_REFUSED);
	return (missed & LIVE_REFUSED) == 0;
}

void event_alloc_unprepared(struct recorder *r, struct stack_cache_leaf *leaf, uint64_t *entry,
	uint64_t addr, size_t size)
{
	uint32_t counter = leaf->counter;
	struct counter_found found;
	bool ready = counter_find(&state_segment, &r->counters, counter, size, &found) ||
		     counter_renew(&state_segment, &r->counters, counter, &found);

	if (!ready)
		counter = counter_prepare(
			&state_segment, &r->counters, &leaf->counter, leaf->site, size);
	if (event_insert_at(entry, addr, size, counter)) {
		if (ready)
			counter_alloc_found(&state_segment, &r->counters, &found, size);
		else
			counter_alloc_at(&state_segment, &r->counters, counter, size);
		event_append(r, addr, size, leaf->site, HT_EVENT_ALLOC);
	} else {
		event_count_untracked(1, size);
	}
	r->last_block = addr;
}

/* ---- blocks from before ---- */

/* Whether the active hook is free's, called by libc's malloc itself. */
static bool is_of_malloc(void)
{
	uintptr_t frame = state_thread.busy & ~REENTRY_IN_REALLOC;

	return frame != 0 && next_called_by_malloc(frame);
}

bool event_is_before(const void *p, uint64_t *usable)
{
	struct wrong_free what;

	*usable = 0;
	if (!before_is_on(&state_segment) || next_is_arena(p) || sample_was_on() ||
		wrong_free_explain((uint64_t)(uintptr_t)p, &what))
		return false;
	*usable = next_usable_size(p);
	return true;
}

void event_before_free(struct recorder *r, const void *p, uint64_t usable)
{
	uint32_t site = before_free(
		&state_segment, r ? &r->counters : &recorder_shared, usable, next_is_listed());

	if (r)
		event_append(r, (uint64_t)(uintptr_t)p, usable, site, HT_EVENT_FREE);
	else
		event_append_shared((uint64_t)(uintptr_t)p, usable, site, HT_EVENT_FREE);
}

bool event_unknown_free(struct recorder *r, const void *p, enum ht_function function)
{
	uint32_t slot = event_slot(r);
	struct wrong_free what;
	uint64_t usable;

	if (next_is_arena(p))
		return false;
	if (sample_was_on() || is_of_malloc())
		return true;
	if (event_is_before(p, &usable)) {
		event_before_free(r, p, usable);
		return true;
	}
	thread_add(slot, &thread_at(&state_segment, slot)->unknown_frees, 1);
	if (wrong_free_explain((uint64_t)(uintptr_t)p, &what))
		wrong_note(r, function, &what);
	return true;
}
