/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a hook to the segment (record.h). The hot path: one look at `on`, the
 * remembered stacks, the live table, the counters, the ring. No locks, and no system calls but
 * those that take fresh memory.
 *
 * Re-entry: state_thread.busy holds the frame address of the hook at work. A nested call (an
 * unwinder or operator new that allocates, a signal handler) is passed through unrecorded. If a
 * handler left by siglongjmp the word stays behind. Addresses do not tell the two apart: a
 * handler's own stack may lie on either side. So the unwinder tells whether a hook of ours is among
 * the callers.
 */
#include "preload/record.h"

#include <errno.h>

#include "preload/clock.h"
#include "preload/guards.h"
#include "preload/modules.h"
#include "preload/next.h"
#include "preload/recorder.h"
#include "preload/state.h"
#include "preload/traces.h"
#include "preload/unwind.h"
#include "shm/ring.h"

#define NEW_BYTES_MAX 16384u /* of stack that an operator new takes on its way to malloc */

/* Whether the hook that `busy` tells of is still at work, among our callers. */
static bool is_nested(uintptr_t frame)
{
	uintptr_t busy = state_thread.busy;

	if (__builtin_expect(busy == 0, 1))
		return false;
	/* Operator new at its own malloc: not worth a walk. */
	if (state_thread.in_allocator && frame < busy && busy - frame < NEW_BYTES_MAX)
		return true;
	return !unwind_own_passes(frame, busy);
}

bool record_enter(uintptr_t frame)
{
	if (is_nested(frame))
		return false;
	if (__builtin_expect(state_thread.busy != 0, 0))
		state_thread.unwinding = state_thread.in_allocator = 0; /* left behind with it */
	state_thread.busy = frame;
	return true;
}

void record_leave(bool entered)
{
	if (entered)
		state_thread.busy = 0;
}

/*
 * The short way into a hook: recording, a recorder there, no other hook at work. NULL: the long way
 * has to find out.
 */
static inline struct recorder *begin(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(!r || t->busy != 0 || !state_own->on, 0))
		return NULL;
	t->busy = frame;
	return r;
}

static inline void end(struct recorder *r)
{
	if (r)
		state_thread.busy = 0;
}

/* Takes the stack. `remembered`: what is known of it already (and is being checked), or NULL. */
static __attribute__((noinline)) struct guards_leaf *leaf_slow(
	struct recorder *r, uintptr_t frame, uint32_t function, struct guards_leaf *remembered)
{
	int saved = errno;
	struct unwind u = { .frame = frame,
		.depth = state_segment.header->depth,
		.pcs = r->pcs,
		.modules = r->modules,
		.known = &r->known };
	struct stack_trace t;
	uint32_t site;

	state_thread.unwinding = 1;
	unwind_take(&u);
	state_thread.unwinding = 0;
	t = (struct stack_trace){ function, u.count, u.truncated, u.pcs, u.modules, r->path };
	site = traces_site(&t);
	if (remembered && remembered->site != site)
		ht_add_relaxed_64(&state_segment.header->unwinds_wrong, 1);
	if (!remembered)
		remembered = guards_keep(&r->guards, &u, function, site);
	errno = saved;
	return remembered;
}

/* The site of the stack at `frame`; the catch-all for a thread without a recorder. */
static inline uint32_t site_here(struct recorder *r, uintptr_t frame, uint32_t function)
{
	struct guards_leaf *leaf;

	if (!r)
		return 0;
	leaf = guards_find(&r->guards, frame, function);
	if (__builtin_expect(!leaf || unwind_checks(), 0))
		leaf = leaf_slow(r, frame, function, leaf);
	if (__builtin_expect(leaf->truncated, 0))
		ht_add_relaxed_64(&state_segment.header->truncated_stacks, 1);
	return leaf->site;
}

static inline uint32_t slot_of(const struct recorder *r)
{
	return r ? r->slot : 0;
}

static inline uint64_t tick_of(struct recorder *r)
{
	return r ? clock_tick(r) : segment_tick(&state_segment);
}

static inline void last_block_set(struct recorder *r, uint64_t addr)
{
	if (r)
		r->last_block = addr;
}

static inline bool is_last_block(const struct recorder *r, uint64_t addr)
{
	return r && r->last_block == addr;
}

/* Without a recorder it is only counted. */
static void push_event(struct recorder *r, uint64_t addr, const struct live_block *b, uint32_t kind)
{
	struct ht_event e = {
		.addr = addr, .size = b->size, .tick = b->tick, .site = b->site, .kind = kind
	};

	if (r)
		ring_append(r->thread, r->ring, &e);
	else
		ring_push(&state_segment, 0, &e);
}

static void count_untracked(uint64_t size)
{
	ht_add_relaxed_64(&state_segment.header->untracked_blocks, 1);
	ht_add_relaxed_64(&state_segment.header->untracked_bytes, size);
}

static inline struct counter_owner *owner_of(struct recorder *r)
{
	return r ? &r->counters : &recorder_shared;
}

static void count_end(
	const struct live_block *b, struct counter_owner *o, uint64_t tick, bool temporary)
{
	struct counter_end end = { .size = b->size,
		.temporary = temporary,
		.life_ticks = tick > b->tick ? tick - b->tick : 0 };

	if (b->site != HT_SITE_HIDDEN)
		counter_free(&state_segment, o, b->site, &end);
}

/* The ends of blocks whose frees we did not see, which show when their addresses come back. */
static __attribute__((noinline)) void count_missed(
	const struct live_block *old, unsigned count, struct counter_owner *o, uint64_t tick)
{
	for (unsigned i = 0; i < count; i++) {
		if (old[i].site == HT_SITE_HIDDEN)
			continue;
		ht_add_relaxed_64(&state_segment.header->missed_frees, 1);
		count_end(&old[i], o, tick, false);
	}
}

/* Puts a block into the live table. False: there is no room. */
static inline bool block_insert(
	uint64_t addr, const struct live_block *b, struct counter_owner *o, uint64_t tick)
{
	struct live_block old[LIVE_MISSED_MAX];
	unsigned missed = live_insert(&state_segment, addr, b, old);

	if (__builtin_expect(missed != 0, 0))
		count_missed(old, missed & ~LIVE_REFUSED, o, tick);
	return (missed & LIVE_REFUSED) == 0;
}

/* Enters a block whose site is known. */
static void block_add(struct recorder *r, uint64_t addr, const struct live_block *b)
{
	if (block_insert(addr, b, owner_of(r), b->tick))
		counter_alloc(&state_segment, owner_of(r), b->site, b->size);
	else
		count_untracked(b->size);
	push_event(r, addr, b, HT_EVENT_ALLOC);
	last_block_set(r, addr);
}

static inline void alloc_recorded(
	struct recorder *r, uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct live_block b = {
		.size = size, .tick = tick_of(r), .site = site_here(r, frame, function)
	};

	block_add(r, (uint64_t)(uintptr_t)p, &b);
}

static void alloc_outermost(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct recorder *r = recorder_here();
	uint32_t slot = slot_of(r);

	if (p)
		alloc_recorded(r, frame, p, size, function);
	else
		thread_add(slot, &thread_at(&state_segment, slot)->failed, 1);
}

/* Notes a block that is not to be counted, so that its free is known for what it is. */
static void hide(void *p, size_t size)
{
	struct live_block b = { .size = size, .site = HT_SITE_HIDDEN };

	block_insert((uint64_t)(uintptr_t)p, &b, &recorder_shared, segment_tick(&state_segment));
}

/* Whether this is the block that operator new asks malloc for, which the outer hook will record. */
static bool is_inner(size_t size)
{
	return size >= state_thread.inner_least && size <= state_thread.inner_most;
}

/*
 * An allocation inside a hook. The unwinder's own is nobody's business. Inside operator new it is
 * recorded here unless the outer hook will do so: that one is not at work on anything. What is left
 * is a signal handler's, a loss to tell.
 */
static void alloc_nested(
	uintptr_t frame, void *p, size_t size, enum ht_function function, bool inner)
{
	struct state_thread *t = &state_thread;

	if (!p)
		return;
	if (t->unwinding) {
		hide(p, size);
	} else if (t->in_allocator) {
		if (!inner) {
			/* A handler that interrupts this is inside a hook at work, not an
			 * allocator. */
			t->in_allocator = 0;
			alloc_outermost(frame, p, size, function);
			t->in_allocator = 1;
		}
	} else {
		count_untracked(size);
		ht_add_relaxed_64(&state_segment.header->untracked_busy, 1);
		hide(p, size);
	}
}

/* At start, inside another hook, without memory to show for it. */
static __attribute__((noinline)) void alloc_slow(
	uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	if (!state_on() || next_is_arena(p))
		return;
	if (record_enter(frame)) {
		alloc_outermost(frame, p, size, function);
		record_leave(true);
	} else {
		alloc_nested(frame, p, size, function, is_inner(size));
	}
}

void record_alloc(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct recorder *r = begin(frame);

	if (__builtin_expect(!r || !p, 0)) {
		end(r);
		alloc_slow(frame, p, size, function);
		return;
	}
	alloc_recorded(r, frame, p, size, function);
	end(r);
}

/* Takes a block out of the hash. False: it is not ours to know. */
static bool block_take(void *p, struct live_block *out, uint32_t slot)
{
	if (live_remove(&state_segment, (uint64_t)(uintptr_t)p, out))
		return true;
	if (!next_is_arena(p))
		thread_add(slot, &thread_at(&state_segment, slot)->unknown_frees, 1);
	return false;
}

static inline void free_recorded(struct recorder *r, void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p, tick = tick_of(r);
	uint32_t slot = slot_of(r);
	struct live_block b;

	if (block_take(p, &b, slot)) {
		count_end(&b, owner_of(r), tick, is_last_block(r, addr));
		b.tick = tick;
		push_event(r, addr, &b, HT_EVENT_FREE);
	}
	last_block_set(r, 0);
}

/*
 * A free inside a hook: of operator delete's own block, which the outer hook has taken out already;
 * of the unwinder; or by a signal handler, so nothing of the thread's own may be touched here.
 */
static void free_nested(void *p)
{
	struct live_block b;

	if (live_remove(&state_segment, (uint64_t)(uintptr_t)p, &b))
		count_end(&b, &recorder_shared, b.tick, false);
}

static __attribute__((noinline)) void free_slow(uintptr_t frame, void *p)
{
	if (!p || !state_on())
		return;
	if (record_enter(frame)) {
		free_recorded(recorder_here(), p);
		record_leave(true);
	} else {
		free_nested(p);
	}
}

bool record_free(uintptr_t frame, void *p)
{
	struct recorder *r;

	modules_free_called(((const uint64_t *)frame)[1]);
	/* An allocator that is not there yet gave out nothing. */
	if (__builtin_expect(next_is_arena(p) || !next_available(), 0))
		return false;
	r = begin(frame);
	if (__builtin_expect(!r || !p, 0)) {
		end(r);
		free_slow(frame, p);
		return true;
	}
	free_recorded(r, p);
	end(r);
	return true;
}

void record_move_begin(uintptr_t frame, struct record_move *m, void *p)
{
	m->known = false;
	m->recording = state_on();
	if (!m->recording)
		return;
	if (record_enter(frame)) {
		m->known = block_take(p, &m->block, slot_of(recorder_here()));
		record_leave(true);
	} else {
		m->known = live_remove(&state_segment, (uint64_t)(uintptr_t)p, &m->block);
	}
}

/* The old block's end. */
static void move_end(const struct record_move *m, void *p, struct recorder *r)
{
	uint64_t addr = (uint64_t)(uintptr_t)p, tick = tick_of(r);
	struct live_block b = m->block;

	count_end(&b, owner_of(r), tick, is_last_block(r, addr));
	b.tick = tick;
	push_event(r, addr, &b, HT_EVENT_FREE);
}

static void move_done_outermost(uintptr_t frame, const struct record_move *m, void *p, void *q,
	size_t size, enum ht_function function)
{
	struct recorder *r = recorder_here();
	uint32_t slot = slot_of(r);

	if (m->known) {
		move_end(m, p, r);
		thread_add(slot, &thread_at(&state_segment, slot)->reallocs, 1);
	}
	alloc_outermost(frame, q, size, function);
}

void record_move_done(uintptr_t frame, struct record_move *m, void *p, void *q, size_t size,
	enum ht_function function)
{
	if (!m->recording)
		return;
	if (record_enter(frame)) {
		move_done_outermost(frame, m, p, q, size, function);
		record_leave(true);
	} else {
		if (m->known) {
			count_end(&m->block, &recorder_shared, m->block.tick, false);
			thread_add(0, &thread_at(&state_segment, 0)->reallocs, 1);
		}
		alloc_nested(frame, q, size, function, false);
	}
}

/* The block is still where it was; no count changes, unless another one took the room. */
static void move_undo(const struct record_move *m, void *p, struct recorder *r)
{
	uint32_t slot = slot_of(r);

	thread_add(slot, &thread_at(&state_segment, slot)->failed, 1);
	if (m->known &&
		!block_insert((uint64_t)(uintptr_t)p, &m->block, owner_of(r), m->block.tick)) {
		count_end(&m->block, owner_of(r), m->block.tick, false);
		count_untracked(m->block.size);
	}
}

void record_move_failed(uintptr_t frame, struct record_move *m, void *p, bool freed)
{
	struct recorder *r;
	bool entered;

	if (!m->recording)
		return;
	entered = record_enter(frame);
	r = entered ? recorder_here() : NULL;
	if (!freed) {
		move_undo(m, p, r);
	} else if (m->known && entered) {
		move_end(m, p, r);
		last_block_set(r, 0);
	} else if (m->known) {
		count_end(&m->block, &recorder_shared, m->block.tick, false);
	}
	record_leave(entered);
}
