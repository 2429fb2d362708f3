/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a hook to the segment (record.h). The hot path: one look at `on`, the
 * remembered stacks, the live table, the counters, the ring. No locks, and no system calls but
 * those that take fresh memory.
 */
#include "preload/record.h"

#include <errno.h>

#include "preload/hot.h"
#include "preload/nesting.h"
#include "preload/next.h"
#include "preload/sample.h"
#include "preload/unwind.h"

/* Takes the stack. `remembered`: what is known of it already (and is being checked), or NULL. */
struct guards_leaf *record_leaf(
	struct recorder *r, uintptr_t frame, uint32_t function, struct guards_leaf *remembered)
{
	int saved = errno;
	struct unwind *u = &r->unwind[!r->unwind_last];
	bool path_whole = r->path_whole;
	struct stack_trace t;
	uint32_t site;

	/* Until both are of this stack: a handler may leave in between, and never come back. */
	r->path_whole = false;
	ht_fence_handler();
	u->frame = frame;
	unwind_take(u, &r->unwind[r->unwind_last], &r->unwind[2]);
	r->unwind_last = !r->unwind_last;
	t = (struct stack_trace){ function, u->count, u->truncated, u->pcs, u->modules, r->path,
		path_whole ? u->kept : 0 };
	site = stack_intern(&state_segment, &t);
	ht_fence_handler();
	r->path_whole = true;
	if (remembered && remembered->site != site)
		ht_add_relaxed_64(&state_segment.header->unwinds_wrong, 1);
	if (!remembered)
		remembered = guards_keep(&r->guards, u, function, site);
	errno = saved;
	return remembered;
}

void record_untracked(uint64_t blocks, uint64_t bytes)
{
	ht_add_relaxed_64(&state_segment.header->untracked_blocks, blocks);
	ht_add_relaxed_64(&state_segment.header->untracked_bytes, bytes);
}

/* Counts the end of a block, a sampled one by the weight with which it came. */
static void end_count(struct counter_owner *o, uint64_t addr, const struct live_block *b,
	const struct counter_end *end)
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

/* The end of a block that only the shared slot counts. */
static __attribute__((noinline)) void end_shared(uint64_t addr, const struct live_block *b)
{
	struct counter_end end = { .size = b->size };

	end_count(&recorder_shared, addr, b, &end);
}

/*
 * A sampled block is temporary if its thread has allocated no other since; frees that passed in
 * between were not seen.
 */
void record_ended(struct recorder *r, uint64_t addr, const struct live_block *b, uint64_t tick)
{
	struct counter_end end = { .size = b->size,
		.temporary = r->last_block == addr && r->last_left == state_thread.left,
		.life_ticks = tick > b->tick ? tick - b->tick : 0 };
	struct live_block event = { .size = b->size, .tick = tick };

	if (live_counter(b) == HT_COUNTER_HIDDEN)
		return;
	end_count(&r->counters, addr, b, &end);
	hot_event(r, addr, &event, counter_site(&r->counters, live_counter(b)), HT_EVENT_FREE);
}

/* The ends of blocks whose frees we did not see, which show when their addresses come back. */
void record_missed(uint64_t addr, const struct live_block *old, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (old[i].counter != HT_COUNTER_HIDDEN)
			ht_add_relaxed_64(&state_segment.header->missed_frees, 1);
		/* A sampled one had this very address; for the others it says nothing. */
		end_shared(addr, &old[i]);
	}
}

bool record_insert(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter)
{
	struct live_block old[LIVE_MISSED_MAX];
	unsigned missed = live_insert_slow(&state_segment, addr, size, tick, counter, old);

	record_missed(addr, old, missed & ~LIVE_REFUSED);
	return (missed & LIVE_REFUSED) == 0;
}

void record_alloc_other(struct recorder *r, struct guards_leaf *leaf, uint64_t addr, size_t size)
{
	struct live_block b = { .size = size,
		.tick = segment_tick(&state_segment),
		.counter = counter_prepare(
			&state_segment, &r->counters, &leaf->counter, leaf->site, size) };

	if (record_insert(addr, size, b.tick, b.counter))
		counter_alloc_at(&state_segment, &r->counters, b.counter, size);
	else
		record_untracked(1, size);
	hot_event(r, addr, &b, leaf->site, HT_EVENT_ALLOC);
	r->last_block = addr;
}

static bool block_put(uint64_t addr, const struct live_block *b)
{
	return hot_insert(live_place(&state_segment, addr, b->size), addr, b);
}

/* A thread without a recorder: the shared slot, the catch-all site, no event. */
static void alloc_shared(void *p, size_t size)
{
	if (record_insert((uint64_t)(uintptr_t)p, size, segment_tick(&state_segment), 0))
		counter_alloc(&state_segment, &recorder_shared, 0, size);
	else
		record_untracked(1, size);
	ring_push(&state_segment, 0, NULL);
}

static inline uint32_t slot_of(const struct recorder *r)
{
	return r ? r->slot : 0;
}

static void count_failed(const struct recorder *r, uint64_t count)
{
	uint32_t slot = slot_of(r);

	thread_add(slot, &thread_at(&state_segment, slot)->failed, count);
}

/* A sampled block, which is counted by its weight. `r` may be NULL. */
static void alloc_sampled(struct recorder *r, uintptr_t frame, void *p, size_t size,
	enum ht_function function, uint32_t rate)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct counter_owner *o = r ? &r->counters : &recorder_shared;
	struct poisson_weight w = poisson_weight(addr, size, rate);
	struct live_block old[LIVE_MISSED_MAX], b = { .size = size };
	uint32_t site =
		r ? hot_leaf(r, guards_root(&r->guards, frame), frame, function, unwind_checks())
				->site
		  : 0;
	unsigned missed;

	b.tick = r ? clock_tick(r) : segment_tick(&state_segment);
	b.counter = counter_for_sampled(&state_segment, o, site) | rate << LIVE_RATE_SHIFT;
	missed = live_insert_sampled(&state_segment, addr, &b, old);
	record_missed(addr, old, missed & ~LIVE_REFUSED);
	if (missed & LIVE_REFUSED) {
		record_untracked(w.blocks, w.bytes);
	} else {
		sample_hold(addr);
		counter_alloc_sampled(&state_segment, o, site, size, &w);
	}
	if (!r) {
		ring_push(&state_segment, 0, NULL);
		return;
	}
	hot_event(r, addr, &b, site, HT_EVENT_ALLOC);
	r->last_block = addr;
	r->last_left = state_thread.left;
}

/* Requests above this, which nobody can have meant, weigh like it: as one. */
#define SIZE_MOST ((1ull << HT_LIVE_SIZE_BITS) - 1)

/* How many requests of `size` one that was taken at `rate` stands for. */
static uint64_t count_of(size_t size, uint32_t rate)
{
	uint64_t capped = size < SIZE_MOST ? size : SIZE_MOST;

	return rate ? poisson_weight(state_thread.left, capped, rate).blocks : 1;
}

/* How many blocks it was counted for: none if it is not to be recorded, 1 in exact mode. */
static uint64_t alloc_outermost(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	uint64_t measured, count;
	struct recorder *r;
	uint32_t rate;

	if (!sample_takes(size, &rate))
		return 0;
	measured = sample_time_begin();
	r = recorder_here();
	count = count_of(size, rate);
	if (!p)
		count_failed(r, count);
	else if (rate != 0)
		alloc_sampled(r, frame, p, size, function, rate);
	else if (r)
		hot_alloc_recorded(r, frame, p, size, function, unwind_checks());
	else
		alloc_shared(p, size);
	sample_time_end(measured, p != NULL);
	return count;
}

/* Notes a block that is not to be counted, so that its free is known for what it is. */
static void hide(void *p, size_t size)
{
	struct live_block b = { .size = size, .counter = HT_COUNTER_HIDDEN };

	/* Where blocks pass unrecorded, what is not in the table is no surprise. */
	if (next_mode != NEXT_EXACT)
		sample_redraw();
	else
		(void)block_put((uint64_t)(uintptr_t)p, &b);
}

/* Whether this is the block that operator new asks malloc for, which the outer hook will record. */
static bool is_inner(size_t size)
{
	return size >= state_thread.inner_least && size <= state_thread.inner_most;
}

/*
 * An allocation inside a hook. What we ourselves call may allocate: that is nobody's business.
 * Inside operator new it is recorded here unless the outer hook will do so: that one is not at work
 * on anything. What is left is a signal handler's, a loss to tell.
 */
static void alloc_nested(
	uintptr_t frame, void *p, size_t size, enum ht_function function, bool inner)
{
	struct state_thread *t = &state_thread;
	struct poisson_weight w;
	uint32_t rate;

	if (!p)
		return;
	if (t->unwinding) {
		hide(p, size);
	} else if (t->in_allocator) {
		if (!inner) {
			/* A handler that interrupts this is inside a hook at work, not an
			 * allocator. */
			t->in_allocator = 0;
			sample_redraw(); /* the outer hook has set the gap aside */
			alloc_outermost(frame, p, size, function);
			t->in_allocator = 1;
		}
	} else if (sample_takes(size, &rate)) {
		w = poisson_weight((uint64_t)(uintptr_t)p, size, rate);
		record_untracked(w.blocks, w.bytes);
		ht_add_relaxed_64(&state_segment.header->untracked_busy, w.blocks);
		hide(p, size);
	}
}

/* At start, inside another hook, without memory to show for it. */
void record_alloc_slow(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	uintptr_t paused;

	if (!state_on() || next_is_arena(p))
		return;
	paused = nesting_pause(frame);
	if (nesting_enter(frame)) {
		alloc_outermost(frame, p, size, function);
		nesting_leave(true);
	} else {
		alloc_nested(frame, p, size, function, is_inner(size));
	}
	nesting_resume(paused);
}

void record_alloc(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	hot_alloc(frame, p, size, function);
}

bool record_unknown(const struct recorder *r, const void *p)
{
	uint32_t slot = slot_of(r);

	if (next_is_arena(p))
		return false;
	if (!sample_ever())
		thread_add(slot, &thread_at(&state_segment, slot)->unknown_frees, 1);
	return true;
}

/* Takes a block out of the live table. */
static bool block_take(const struct recorder *r, void *p, struct live_block *out)
{
	if (live_remove(&state_segment, (uint64_t)(uintptr_t)p, out))
		return true;
	(void)record_unknown(r, p);
	return false;
}

static void free_shared(void *p)
{
	struct live_block b;

	if (!block_take(NULL, p, &b))
		return;
	end_shared((uint64_t)(uintptr_t)p, &b);
	ring_push(&state_segment, 0, NULL);
}

/*
 * A free inside a hook: of operator delete's own block, which the outer hook has taken out already;
 * of the unwinder; or by a signal handler, so nothing of the thread's own may be touched here.
 */
static void free_nested(void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct live_block b;

	if (live_remove(&state_segment, addr, &b))
		end_shared(addr, &b);
}

bool record_free_slow(uintptr_t frame, void *p)
{
	uint64_t measured, events;
	struct recorder *r;
	uintptr_t paused;

	/* An allocator that is not there yet gave out nothing. */
	if (next_is_arena(p) || !next_available())
		return false;
	if (!p || !state_on())
		return true;
	paused = nesting_pause(frame);
	if (!nesting_enter(frame)) {
		free_nested(p);
		return true;
	}
	measured = sample_time_begin();
	r = recorder_here();
	events = r ? r->counters.thread->ring_head : 0;
	if (r)
		(void)hot_free_recorded(r, p);
	else
		free_shared(p);
	sample_time_end(measured, !r || r->counters.thread->ring_head != events);
	nesting_leave(true);
	nesting_resume(paused);
	return true;
}

bool record_free(uintptr_t frame, void *p)
{
	return hot_free(frame, p);
}

/* From before a block leaves the table until it is back, or another is in its place. A stop from
 * outside sees what a handler would. */
static inline void moving_begin(void)
{
	state_thread.moving = 1;
	ht_fence_handler();
}

/* `paused`: another realloc that this one interrupted goes on. */
static inline void moving_end(uintptr_t paused)
{
	ht_fence_handler();
	state_thread.moving = paused != 0;
}

static void move_leave(bool entered, const struct record_move *m)
{
	moving_end(m->paused);
	nesting_leave(entered);
	nesting_resume(m->paused);
}

/* The long way back from the next allocator. False: nothing is recorded, or not any more, since a
 * handler forked meanwhile. */
static bool move_goes_on(uintptr_t frame, const struct record_move *m)
{
	if (!m->recording)
		return false;
	if (state_thread.busy == (frame | HOT_MOVING))
		state_thread.busy = 0;
	if (state_on())
		return true;
	move_leave(false, m);
	return false;
}

static __attribute__((noinline)) void move_begin_slow(
	uintptr_t frame, struct record_move *m, void *p)
{
	bool entered;

	m->known = false;
	m->recording = state_on();
	if (!m->recording)
		return;
	m->paused = nesting_pause(frame);
	entered = nesting_enter(frame);
	moving_begin();
	if (!entered) {
		m->known = live_remove_slow(&state_segment, (uint64_t)(uintptr_t)p, &m->block);
		return;
	}
	m->known = block_take(recorder_here(), p, &m->block);
	state_thread.busy = frame | HOT_MOVING;
}

void record_move_begin(uintptr_t frame, struct record_move *m, void *p)
{
	struct recorder *r = hot_begin(frame);

	m->paused = 0;
	if (__builtin_expect(!r, 0)) {
		move_begin_slow(frame, m, p);
		return;
	}
	m->recording = true;
	moving_begin();
	m->known = block_take(r, p, &m->block);
	hot_pause(r, frame);
}

/* The old block's end. */
static void move_end(struct recorder *r, const struct record_move *m, void *p)
{
	if (r)
		hot_ended(r, (uint64_t)(uintptr_t)p, &m->block);
	else
		end_shared((uint64_t)(uintptr_t)p, &m->block);
}

static void move_done_outermost(uintptr_t frame, const struct record_move *m, void *p, void *q,
	size_t size, enum ht_function function)
{
	struct recorder *r = recorder_here();
	uint32_t slot = slot_of(r);
	uint64_t count;

	if (m->known)
		move_end(r, m, p);
	count = alloc_outermost(frame, q, size, function);
	/* Where blocks pass unrecorded the old one need not be known. */
	if (m->known || sample_ever())
		thread_add(slot, &thread_at(&state_segment, slot)->reallocs, count);
}

static __attribute__((noinline)) void move_done_slow(uintptr_t frame, const struct record_move *m,
	void *p, void *q, size_t size, enum ht_function function)
{
	bool entered;

	if (!move_goes_on(frame, m))
		return;
	entered = nesting_enter(frame);
	if (entered) {
		move_done_outermost(frame, m, p, q, size, function);
	} else {
		if (m->known) {
			end_shared((uint64_t)(uintptr_t)p, &m->block);
			thread_add(0, &thread_at(&state_segment, 0)->reallocs, 1);
		}
		alloc_nested(frame, q, size, function, false);
	}
	move_leave(entered, m);
}

void record_move_done(uintptr_t frame, struct record_move *m, void *p, void *q, size_t size,
	enum ht_function function)
{
	struct recorder *r = hot_resume(frame);

	if (__builtin_expect(!r || !m->recording || !m->known || m->paused != 0, 0)) {
		hot_end(r);
		move_done_slow(frame, m, p, q, size, function);
		return;
	}
	hot_ended(r, (uint64_t)(uintptr_t)p, &m->block);
	ht_add_own_64(&r->counters.thread->reallocs, 1);
	hot_alloc_recorded(r, frame, q, size, function, false);
	moving_end(0);
	hot_end(r);
}

/* The block is still where it was; no count changes, unless another one took the room. */
static void move_undo(const struct record_move *m, void *p)
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
		end_shared(addr, &m->block);
		record_untracked(1, m->block.size);
	}
}

void record_move_failed(uintptr_t frame, struct record_move *m, void *p, size_t size, bool freed)
{
	struct recorder *r;
	uint32_t rate;
	bool entered;

	if (!move_goes_on(frame, m))
		return;
	entered = nesting_enter(frame);
	r = entered ? recorder_here() : NULL;
	if (!freed) {
		move_undo(m, p);
		if (sample_takes(size, &rate))
			count_failed(r, count_of(size, rate));
	} else if (m->known) {
		move_end(r, m, p);
	}
	if (freed && r)
		r->last_block = 0;
	move_leave(entered, m);
}
