/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an ordinary malloc and free go through, to be inlined into their hooks: one look whether
 * this thread may record at once, the remembered stack, the live table, the counters, the ring.
 * Nothing here locks or makes a system call; what is out of the ordinary is record.c's.
 */
#ifndef PRELOAD_HOT_H
#define PRELOAD_HOT_H

#include "preload/tick.h"
#include "preload/guards.h"
#include "preload/modules.h"
#include "preload/record.h"
#include "preload/recorder.h"
#include "preload/lifecycle.h"
#include "shm/ring.h"

/* The rest of an allocation or free: at start, inside another hook, without a recorder, NULL. */
void record_alloc_slow(uintptr_t frame, void *p, size_t size, enum ht_function function);
bool record_free_slow(uintptr_t frame, void *p);
/* Takes the stack. `remembered`: what is known of it already (and is being checked), or NULL. */
struct guards_leaf *record_leaf(
	struct recorder *r, uintptr_t frame, uint32_t function, struct guards_leaf *remembered);
/* A block whose counter has to be found, or made ready, first. */
void record_alloc_other(struct recorder *r, struct guards_leaf *leaf, uint64_t addr, size_t size);
/* Blocks that no table has room for. */
void record_untracked(uint64_t blocks, uint64_t bytes);
/* The ends of blocks whose frees we did not see, which show when their addresses come back. */
void record_missed(uint64_t addr, const struct live_block *old, unsigned count);
/* Puts a block into the live table, whatever is in its way there. False: there is no room. */
bool record_insert(uint64_t addr, uint64_t size, uint64_t tick, uint32_t counter);
/* The end of a block that is hidden or was sampled. */
void record_ended(struct recorder *r, uint64_t addr, const struct live_block *b, uint64_t tick);
/* The free of a block that is not in the live table, and so not ours to know. False: it is the
 * bootstrap arena's. */
bool record_unknown(const struct recorder *r, const void *p);

/*
 * While realloc is at the next allocator, `busy` is the frame of its hook with this bit: so the
 * thread's next hook finds out whether a handler has left that, and ends it. A handler's own events
 * are recorded as if nothing were at work.
 */
#define HOT_MOVING ((uintptr_t)1)

/*
 * The short way into a hook: recording all, a recorder there, no other hook at work. NULL: the long
 * way has to find out.
 */
HT_HOT struct recorder *hot_begin(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(!r || t->busy != 0 || state_own->on != OWN_SHORT, 0))
		return NULL;
	t->busy = frame;
	return r;
}

HT_HOT void hot_end(struct recorder *r)
{
	if (r)
		state_thread.busy = 0;
}

/* From a hook into its next allocator's realloc, and back. NULL: the long way. */
HT_HOT void hot_pause(struct recorder *r, uintptr_t frame)
{
	if (r)
		state_thread.busy = frame | HOT_MOVING;
}

HT_HOT struct recorder *hot_resume(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(
		    !r || t->busy != (frame | HOT_MOVING) || state_own->on != OWN_SHORT, 0))
		return NULL;
	t->busy = frame;
	return r;
}

/* `root`: of the stacks at `frame`. `checks`: remembered stacks are taken again, and compared. */
HT_HOT struct guards_leaf *hot_leaf(struct recorder *r, struct guards_record *root, uintptr_t frame,
	uint32_t function, bool checks)
{
	struct guards_leaf *leaf = guards_find(&r->guards, root, frame, function);

	if (__builtin_expect(!leaf || checks, 0))
		leaf = record_leaf(r, frame, function, leaf);
	return leaf;
}

HT_HOT void hot_event(const struct recorder *r, uint64_t addr, const struct live_block *b,
	uint32_t site, uint32_t kind)
{
	struct ht_event e = {
		.addr = addr, .size = b->size, .tick = b->tick, .site = site, .kind = kind
	};

	ring_append(r->counters.thread, r->ring, &e);
}

/* Puts a block into the live table, at `entry` if it is as usual. False: there is no room. */
HT_HOT bool hot_insert(uint64_t *entry, uint64_t addr, const struct live_block *b)
{
	if (__builtin_expect(!entry, 0))
		return record_insert(addr, b->size, b->tick, b->counter);
	live_store(entry, addr, b->size, b->tick, b->counter);
	return true;
}

/*
 * First it is found out where to look for the stack and where the block will be, last what to
 * write: the processor is at the one while it waits for the other.
 */
HT_HOT void hot_alloc_recorded(struct recorder *r, uintptr_t frame, void *p, size_t size,
	enum ht_function function, bool checks)
{
	struct guards_record *root = guards_root(&r->guards, frame);
	uint64_t addr = (uint64_t)(uintptr_t)p, *entry;
	struct live_block b = { .size = size };
	struct counter_found found;
	struct guards_leaf *leaf;

	__asm__ volatile("" : "+r"(root));
	entry = live_place(&state_segment, addr, size);
	b.tick = clock_tick(r);
	leaf = hot_leaf(r, root, frame, function, checks);
	b.counter = leaf->counter;
	if (__builtin_expect(!counter_find(&r->counters, b.counter, leaf->site, size, &found), 0)) {
		record_alloc_other(r, leaf, addr, size);
		return;
	}
	if (__builtin_expect(hot_insert(entry, addr, &b), 1))
		counter_alloc_found(&state_segment, &r->counters, &found, size);
	else
		record_untracked(1, size);
	hot_event(r, addr, &b, leaf->site, HT_EVENT_ALLOC);
	r->last_block = addr;
}

/* A block that was taken out of the live table. */
HT_HOT void hot_ended(struct recorder *r, uint64_t addr, const struct live_block *b)
{
	uint64_t tick = clock_tick(r);
	struct counter_end end = { .size = b->size,
		.temporary = r->last_block == addr,
		.life_ticks = tick > b->tick ? tick - b->tick : 0 };
	struct live_block event = { .size = b->size, .tick = tick };
	uint32_t site;

	if (__builtin_expect(b->counter >= HT_COUNTER_HIDDEN, 0)) {
		struct live_block special = *b; /* the ordinary one stays in registers */

		record_ended(r, addr, &special, tick);
		return;
	}
	site = counter_free_block(&state_segment, &r->counters, b->counter, &end);
	hot_event(r, addr, &event, site, HT_EVENT_FREE);
}

HT_HOT void hot_alloc(uintptr_t frame, void *p, size_t size, enum ht_function function)
{
	struct recorder *r = hot_begin(frame);

	if (__builtin_expect(!r || !p, 0)) {
		hot_end(r);
		record_alloc_slow(frame, p, size, function);
		return;
	}
	hot_alloc_recorded(r, frame, p, size, function, false);
	hot_end(r);
}

/* False: the block is the bootstrap arena's. */
HT_HOT bool hot_free_recorded(struct recorder *r, void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct live_block b;
	bool ours = true;

	if (__builtin_expect(live_remove(&state_segment, addr, &b), 1))
		hot_ended(r, addr, &b);
	else
		ours = record_unknown(r, p);
	r->last_block = 0;
	return ours;
}

/* False: not for the next allocator. */
HT_HOT bool hot_free(uintptr_t frame, void *p)
{
	struct recorder *r = hot_begin(frame);
	bool ours;

	modules_free_called(((const uint64_t *)frame)[1]);
	if (__builtin_expect(!r || !p, 0)) {
		hot_end(r);
		return record_free_slow(frame, p);
	}
	ours = hot_free_recorded(r, p);
	hot_end(r);
	return ours;
}

#endif
