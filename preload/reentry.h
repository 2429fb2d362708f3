/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The re-entry guard: hooks called inside hooks, by an unwinder or operator new that allocates or
 * by a signal handler; and hooks that a signal handler abandoned by longjmp. `frame`: that of the
 * calling hook (record.h).
 */
#ifndef PRELOAD_REENTRY_H
#define PRELOAD_REENTRY_H

#include "preload/state.h"

/*
 * Marks the thread as inside an allocator that calls malloc and free itself (operator new), so that
 * one block is recorded once. False: it already was inside.
 */
bool reentry_enter(uintptr_t frame);
void reentry_leave(bool entered);
/* Whether the calling hook was called by a patched function that is being recorded (inner_call.h),
 * or by what that called: its block is not the program's. Not so the memory of an exception that
 * the function throws. */
bool reentry_in_inner(uintptr_t frame);
/* There: the next allocator returned `p`, of `size` bytes. If the function was asked for as many,
 * that may be its block; notes it. */
void reentry_inner_passed(const void *p, size_t size);
/* Where the C++ runtime allocates that memory: its function for it. */
void reentry_exceptions_from(uint64_t start, uint64_t bytes);
/* If a signal handler's hook interrupts a realloc that is in the next allocator: marks the thread
 * as outside any hook until reentry_resume gets the returned value. */
uintptr_t reentry_pause(uintptr_t frame);
void reentry_resume(uintptr_t paused);

/* While realloc is in the next allocator, `busy` is the frame of its hook with this bit. So the
 * thread's next hook can determine whether a handler abandoned that realloc. A handler's own events
 * are recorded as if no hook were active. */
#define REENTRY_IN_REALLOC ((uintptr_t)1)

/* The fast path into a hook: recording all, a recorder present, no other hook active. NULL: take
 * the slow path. */
HT_HOT struct recorder *reentry_begin(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r;

	if (__builtin_expect(t->busy != 0, 0))
		return NULL;
	t->busy = frame;
	ht_fence_handler(); /* as state_enter */
	r = t->recorder;
	if (__builtin_expect(!r || !state_is_fast(), 0)) {
		t->busy = 0;
		return NULL;
	}
	return r;
}

HT_HOT void reentry_end(struct recorder *r)
{
	if (r)
		state_thread.busy = 0;
}

/* From a hook into the next allocator's realloc, and back. NULL: take the slow path. */
HT_HOT void reentry_suspend(struct recorder *r, uintptr_t frame)
{
	if (r)
		state_thread.busy = frame | REENTRY_IN_REALLOC;
}

HT_HOT struct recorder *reentry_continue(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(!r || t->busy != (frame | REENTRY_IN_REALLOC) || !state_is_fast(), 0))
		return NULL;
	t->busy = frame;
	return r;
}

#endif
