/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The slow path of recording, and realloc (record.h). No locks, and no system calls but those that
 * take fresh memory.
 */
#include "preload/record.h"

#include "preload/lifecycle.h"
#include "preload/next_allocator.h"
#include "preload/sample.h"
#include "preload/unwind.h"
#include "preload/wrong_free.h"

static bool block_put(uint64_t addr, const struct live_block *b)
{
	return event_insert(addr, b->size, b->tick, b->counter);
}

/* For a thread without a recorder: the shared slot, the catch-all site. */
static void alloc_shared(void *p, size_t size)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;

	if (!event_insert(addr, size, segment_tick(&state_segment), 0)) {
		event_count_untracked(1, size);
		return;
	}
	counter_alloc(&state_segment, &recorder_shared, 0, size);
	event_append_shared(addr, size, 0, HT_EVENT_ALLOC);
}

/* Records a sampled block, which counts by its weight. `r` may be NULL. */
static void alloc_sampled(struct recorder *r, uintptr_t frame, void *p, size_t size,
	enum ht_function function, uint32_t rate)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct counter_owner *o = r ? &r->counters : &recorder_shared;
	struct poisson_weight w = poisson_weight(addr, size, rate);
	struct live_block old[LIVE_MISSED_MAX], b = { .size = size };
	uint32_t site = r ? hot_leaf(r, stack_cache_root(&r->guards, frame), frame, function,
				    unwind_checks())
					->site
			  : 0;
	unsigned missed;

	b.tick = r ? tick_now(r) : segment_tick(&state_segment);
	b.counter = counter_for_sampled(&state_segment, o, site) | rate << LIVE_RATE_SHIFT;
	missed = live_insert_sampled(&state_segment, addr, &b, old);
	event_missed_frees(addr, old, missed & ~LIVE_REFUSED);
	if (missed & LIVE_REFUSED) {
		event_count_untracked(w.blocks, w.bytes);
		return;
	}
	sample_hold(addr);
	counter_alloc_sampled(&state_segment, o, site, size, &w);
	if (!r) {
		event_append_shared(addr, size, site, HT_EVENT_ALLOC);
		return;
	}
	event_append(r, addr, size, site, HT_EVENT_ALLOC);
	r->last_block = addr;
	r->last_gap_left = state_thread.gap_left;
}

/* Larger requests, which cannot be meant, are weighted like this one: as one block. */
#define SIZE_MOST ((1ull << HT_LIVE_SIZE_BITS) - 1)

/* How many requests of `size` a request taken at `rate` stands for. */
static uint64_t count_of(size_t size, uint32_t rate)
{
	uint64_t capped = size;

	if (capped > SIZE_MOST)
		capped = SIZE_MOST;
	return rate ? poisson_weight(state_thread.gap_left, capped, rate).blocks : 1;
}

/* Records an allocation outside other hooks. Returns how many blocks it counted as: 0 if it is not
 * recorded, 1 in exact mode. */
static uint64_t alloc_outermost(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	uint64_t measured, count;
	struct recorder *r;
	uint32_t rate;

	if (!sample_takes(size, &rate))
		return 0;
	measured = sample_time_begin();
	r = recorder_current();
	count = count_of(size, rate);
	if (!p)
		event_count_failed(r, count);
	else if (rate != 0)
		alloc_sampled(r, frame, p, size, function, rate);
	else if (r)
		hot_alloc_recorded(
			r, &(struct hot_alloc){ frame, p, size, function, unwind_checks() });
	else
		alloc_shared(p, size);
	sample_time_end(measured, p != NULL);
	return count;
}

/* Enters a block that does not count, so that its free is recognised. */
static void hide(void *p, size_t size)
{
	struct live_block b = { .size = size, .counter = HT_COUNTER_HIDDEN };

	/* Where blocks bypass recording, an unknown free is no surprise. */
	if (!next_is_exact())
		sample_redraw();
	else
		(void)block_put((uint64_t)(uintptr_t)p, &b);
}

/* Whether this is the block that operator new requests from malloc; the outer hook will record it.
 */
static bool is_inner(size_t size)
{
	return state_thread.in_allocator != STATE_IN_INNER && size >= state_thread.inner_least &&
	       size <= state_thread.inner_most;
}

/* Between heaptop_pause and heaptop_resume. A sampled block also counts for those that bypassed. */
static void alloc_paused(void *p, size_t size)
{
	struct ht_header *h = state_segment.header;
	struct poisson_weight w;
	uint32_t rate;

	if (!sample_takes(size, &rate))
		return;
	w = poisson_weight((uint64_t)(uintptr_t)p, size, rate);
	ht_add_relaxed_64(&h->paused_blocks, w.blocks);
	ht_add_relaxed_64(&h->paused_bytes, w.bytes);
	hide(p, size);
}

/* An allocation inside a hook, or while the thread is paused. Blocks of our own callees do not
 * count. A block inside operator new is recorded here unless the outer hook will do so: that hook
 * is not recording yet. Any other is a signal handler's, and counts as a loss. */
static void alloc_nested(
	uintptr_t frame, void *p, size_t size, enum ht_function function, bool inner)
{
	struct state_thread *t = &state_thread;
	uint8_t outer = t->in_allocator;
	struct poisson_weight w;
	uint32_t rate;

	if (!p)
		return;
	if (t->unwinding) {
		hide(p, size);
	} else if (t->paused) {
		if (!t->in_allocator || !inner)
			alloc_paused(p, size);
	} else if (t->in_allocator) {
		if (!inner) {
			/* A handler that interrupts this is inside an active hook, not an
			 * allocator. */
			t->in_allocator = 0;
			sample_redraw(); /* the outer hook keeps the gap */
			alloc_outermost(frame, p, size, function);
			t->in_allocator = outer;
		}
	} else if (sample_takes(size, &rate)) {
		w = poisson_weight((uint64_t)(uintptr_t)p, size, rate);
		event_count_untracked(w.blocks, w.bytes);
		ht_add_relaxed_64(&state_segment.header->untracked_busy, w.blocks);
		hide(p, size);
	}
}

/* reentry_enter, but a paused thread is never outside. */
static bool enter(uintptr_t frame)
{
	return !state_thread.paused && reentry_enter(frame);
}

static void alloc_slow(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	uintptr_t paused;

	if (!lifecycle_on()) {
		if (p)
			wrong_free_missed();
		return;
	}
	if (reentry_in_inner(frame)) {
		reentry_inner_passed(p, size);
		return;
	}
	paused = reentry_pause(frame);
	if (enter(frame)) {
		alloc_outermost(frame, p, size, function);
		reentry_leave(true);
	} else {
		alloc_nested(frame, p, size, function, is_inner(size));
	}
	reentry_resume(paused);
}

/* At start and inside another hook there is no memory to record with. */
void record_alloc_slow(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	if (next_is_arena(p))
		return;
	state_enter();
	alloc_slow(frame, p, size, function);
	state_leave();
}

void record_alloc(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	record_alloc_inline(frame, p, size, function);
}

void *record_malloc(uintptr_t frame, size_t size, enum ht_function function)
{
	void *p = next.malloc(size ? size : 1);

	if (__builtin_expect(p != NULL, 1))
		record_alloc_inline(frame, p, size, function);
	return p;
}

/* Takes a block out of the live table, which `function` frees. */
static bool block_take(
	struct recorder *r, void *p, enum ht_function function, struct live_block *out)
{
	if (live_remove(&state_segment, (uint64_t)(uintptr_t)p, out))
		return true;
	(void)event_unknown_free(r, p, function);
	return false;
}

static void free_shared(void *p, enum ht_function function, uint64_t want)
{
	struct live_block b;

	if (!block_take(NULL, p, function, &b))
		return;
	event_check_shared((uint64_t)(uintptr_t)p, &b, function, want);
	event_free_shared((uint64_t)(uintptr_t)p, &b);
}

/* A free inside a hook: of operator delete's own block, which the outer hook has already taken out;
 * by the unwinder; of what a patched function took from another allocator, which is not recorded;
 * or by a signal handler, so the thread's own data must not be touched here. Or one of a paused
 * thread. */
static void free_nested(void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct live_block b;

	/* Mostly so: the patched function's own has been taken out already. */
	if (!sample_was_on() && live_is_absent(&state_segment, addr))
		return;
	if (live_remove(&state_segment, addr, &b))
		event_free_shared(addr, &b);
}

static void free_slow(uintptr_t frame, void *p, enum ht_function function, uint64_t want)
{
	struct recorder *r;
	uint64_t measured;
	uintptr_t paused;
	bool counts = true, inner;

	if (!lifecycle_on())
		return;
	inner = reentry_in_inner(frame);
	paused = inner ? 0 : reentry_pause(frame);
	if (inner || !enter(frame)) {
		free_nested(p);
		return;
	}
	measured = sample_time_begin();
	r = recorder_current();
	if (r)
		(void)hot_free_recorded(r, p, function, want, &counts);
	else
		free_shared(p, function, want);
	sample_time_end(measured, counts);
	reentry_leave(true);
	reentry_resume(paused);
}

bool record_free_slow(uintptr_t frame, void *p, enum ht_function function, uint64_t want)
{
	/* An allocator that is not found yet has returned no block. */
	if (next_is_arena(p) || !next_available())
		return false;
	if (p) {
		state_enter();
		free_slow(frame, p, function, want);
		state_leave();
	}
	return true;
}

bool record_free(uintptr_t frame, void *p)
{
	return record_free_inline(frame, p, HT_FN_FREE, EVENT_ANY_SIZE);
}

bool record_free_any(uintptr_t frame, void *p)
{
	return record_free_inline(frame, p, HT_FN_NONE, EVENT_ANY_SIZE);
}

#define RECORD_DELETE(name, function)                                                              \
	bool name(uintptr_t frame, void *p)                                                        \
	{                                                                                          \
		return record_free_inline(frame, p, function, EVENT_ANY_SIZE);                     \
	}                                                                                          \
	bool name##_sized(void *p, uint64_t size, uintptr_t frame)                                 \
	{                                                                                          \
		return record_free_inline(frame, p, function, size);                               \
	}

RECORD_DELETE(record_delete, HT_FN_DELETE)
RECORD_DELETE(record_delete_array, HT_FN_DELETE_ARRAY)
RECORD_DELETE(record_delete_aligned, HT_FN_DELETE_ALIGNED)
RECORD_DELETE(record_delete_array_aligned, HT_FN_DELETE_ARRAY_ALIGNED)

/* Marks the thread from before a block leaves the table until it is back, or another is in its
 * place. A stopped thread shows what a handler would see. */
static inline void in_realloc_begin(void)
{
	state_thread.in_realloc = 1;
	ht_fence_handler();
}

/* `paused`: the realloc that this one interrupted continues. */
static inline void in_realloc_end(uintptr_t paused)
{
	ht_fence_handler();
	state_thread.in_realloc = paused != 0;
}

static void realloc_leave(bool entered, const struct record_realloc *m)
{
	in_realloc_end(m->paused);
	reentry_leave(entered);
	reentry_resume(m->paused);
}

/* The slow path back from the next allocator. False: nothing is recorded, or no longer, since a
 * handler forked meanwhile. */
static bool realloc_continues(uintptr_t frame, const struct record_realloc *m)
{
	if (!m->recording)
		return false;
	if (m->session != state_session)
		return false;
	if (state_thread.busy == (frame | REENTRY_IN_REALLOC))
		state_thread.busy = 0;
	if (lifecycle_on())
		return true;
	realloc_leave(false, m);
	return false;
}

/* Takes out the block that realloc is about to move. One from before counts when it has. */
static void realloc_take(
	struct recorder *r, struct record_realloc *m, void *p, enum ht_function function)
{
	m->known = live_remove(&state_segment, (uint64_t)(uintptr_t)p, &m->block);
	if (m->known)
		return;
	m->before = event_is_before(p, &m->block.size);
	if (!m->before)
		(void)event_unknown_free(r, p, function);
}

static void begin_slow(
	uintptr_t frame, struct record_realloc *m, void *p, enum ht_function function)
{
	bool entered, inner;

	m->recording = lifecycle_on();
	if (!m->recording)
		return;
	inner = reentry_in_inner(frame);
	m->paused = inner ? 0 : reentry_pause(frame);
	entered = !inner && enter(frame);
	in_realloc_begin();
	if (!entered) {
		m->known = live_remove_slow(&state_segment, (uint64_t)(uintptr_t)p, &m->block);
		/* A patched function's own. */
		if (inner && !m->known) {
			m->recording = false;
			in_realloc_end(0);
		}
		return;
	}
	realloc_take(recorder_current(), m, p, function);
	state_thread.busy = frame | REENTRY_IN_REALLOC;
}

static __attribute__((noinline)) void realloc_begin_slow(
	uintptr_t frame, struct record_realloc *m, void *p, enum ht_function function)
{
	m->known = false;
	state_enter();
	begin_slow(frame, m, p, function);
	state_leave();
}

void record_realloc_begin(
	uintptr_t frame, struct record_realloc *m, void *p, enum ht_function function)
{
	struct recorder *r = reentry_begin(frame);

	m->paused = 0;
	m->before = false;
	m->session = state_session;
	if (__builtin_expect(!r, 0)) {
		realloc_begin_slow(frame, m, p, function);
		return;
	}
	m->recording = true;
	in_realloc_begin();
	realloc_take(r, m, p, function);
	reentry_suspend(r, frame);
}

/* Counts the free of the old block. */
static void realloc_free_old(
	struct recorder *r, const struct record_realloc *m, void *p, enum ht_function function)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;

	if (r) {
		(void)event_freed(r, addr, &m->block, function);
	} else {
		event_check_shared(addr, &m->block, function, EVENT_ANY_SIZE);
		event_free_shared(addr, &m->block);
	}
}

static void realloc_done_outermost(uintptr_t frame, const struct record_realloc *m, void *p,
	void *q, size_t size, enum ht_function function)
{
	struct recorder *r = recorder_current();
	uint32_t slot = event_slot(r);
	uint64_t count;

	if (m->known)
		realloc_free_old(r, m, p, function);
	else if (m->before)
		event_before_free(r, p, m->block.size);
	count = alloc_outermost(frame, q, size, function);
	/* Where blocks bypass recording the old block need not be known. */
	if (m->known || m->before || sample_was_on())
		thread_add(slot, &thread_at(&state_segment, slot)->reallocs, count);
}

static void done_slow(uintptr_t frame, const struct record_realloc *m, void *p, void *q,
	size_t size, enum ht_function function)
{
	bool entered;

	if (!realloc_continues(frame, m))
		return;
	entered = enter(frame);
	if (entered) {
		realloc_done_outermost(frame, m, p, q, size, function);
	} else {
		if (m->known) {
			event_free_shared((uint64_t)(uintptr_t)p, &m->block);
			thread_add(0, &thread_at(&state_segment, 0)->reallocs, 1);
		}
		alloc_nested(frame, q, size, function, false);
	}
	realloc_leave(entered, m);
}

static __attribute__((noinline)) void realloc_done_slow(uintptr_t frame,
	const struct record_realloc *m, void *p, void *q, size_t size, enum ht_function function)
{
	state_enter();
	done_slow(frame, m, p, q, size, function);
	state_leave();
}

void record_realloc_done(uintptr_t frame, struct record_realloc *m, void *p, void *q, size_t size,
	enum ht_function function)
{
	struct recorder *r = reentry_continue(frame);

	if (__builtin_expect(!r || !m->recording || !m->known || m->paused != 0, 0)) {
		reentry_end(r);
		realloc_done_slow(frame, m, p, q, size, function);
		return;
	}
	if (__builtin_expect(m->block.counter < HT_COUNTER_HIDDEN, 1))
		hot_freed_recorded(r,
			&(struct hot_freed){ (uint64_t)(uintptr_t)p, m->block.size,
				m->block.counter, (uint32_t)live_birth(m->block.tick), function });
	else
		(void)event_freed(r, (uint64_t)(uintptr_t)p, &m->block, function);
	ht_add_own_64(&r->counters.thread->reallocs, 1);
	hot_alloc_recorded(r, &(struct hot_alloc){ frame, q, size, function, false });
	in_realloc_end(0);
	reentry_end(r);
}

/* Puts the block back. No count changes, unless another block took its place. */
static void realloc_undo(const struct record_realloc *m, void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct live_block old[LIVE_MISSED_MAX];
	bool is_back;

	if (!m->known)
		return;
	if (live_rate(&m->block) != 0)
		is_back =
			!(live_insert_sampled(&state_segment, addr, &m->block, old) & LIVE_REFUSED);
	else
		is_back = block_put(addr, &m->block);
	if (!is_back) {
		event_free_shared(addr, &m->block);
		event_count_untracked(1, m->block.size);
	}
}

static void failed(
	uintptr_t frame, const struct record_realloc *m, void *p, size_t size, bool freed)
{
	struct recorder *r;
	uint32_t rate;
	bool entered;

	if (!realloc_continues(frame, m))
		return;
	entered = enter(frame);
	r = entered ? recorder_current() : NULL;
	if (!freed) {
		realloc_undo(m, p);
		if (sample_takes(size, &rate))
			event_count_failed(r, count_of(size, rate));
	} else if (m->known) {
		realloc_free_old(r, m, p, HT_FN_REALLOC);
	} else if (m->before) {
		event_before_free(r, p, m->block.size);
	}
	if (freed && r)
		r->last_block = 0;
	realloc_leave(entered, m);
}

void record_realloc_failed(
	uintptr_t frame, struct record_realloc *m, void *p, size_t size, bool freed)
{
	state_enter();
	failed(frame, m, p, size, freed);
	state_leave();
}
