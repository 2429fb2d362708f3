/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hooks inside hooks: of an unwinder or operator new that allocates, of a signal handler; and hooks
 * that a signal handler left by longjmp. `frame`: that of the hook that asks (record.h).
 */
#ifndef PRELOAD_NESTING_H
#define PRELOAD_NESTING_H

#include "preload/state.h"

/*
 * Marks the thread as inside an allocator that calls malloc and free itself (operator new), so that
 * one block is recorded once. False: it already was inside.
 */
bool nesting_enter(uintptr_t frame);
void nesting_leave(bool entered);
/*
 * If a handler's hook interrupts a realloc that is at the next allocator: nothing of ours
 * is at work then, until nesting_resume gets what this returned.
 */
uintptr_t nesting_pause(uintptr_t frame);
void nesting_resume(uintptr_t paused);

/*
 * While realloc is at the next allocator, `busy` is the frame of its hook with this bit: so the
 * thread's next hook finds out whether a handler has left that, and ends it. A handler's own events
 * are recorded as if nothing were at work.
 */
#define NESTING_IN_REALLOC ((uintptr_t)1)

/*
 * The short way into a hook: recording all, a recorder there, no other hook at work. NULL: the long
 * way has to find out.
 */
HT_HOT struct recorder *nesting_begin(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(!r || t->busy != 0 || !state_is_fast(), 0))
		return NULL;
	t->busy = frame;
	return r;
}

HT_HOT void nesting_end(struct recorder *r)
{
	if (r)
		state_thread.busy = 0;
}

/* From a hook into its next allocator's realloc, and back. NULL: the long way. */
HT_HOT void nesting_suspend(struct recorder *r, uintptr_t frame)
{
	if (r)
		state_thread.busy = frame | NESTING_IN_REALLOC;
}

HT_HOT struct recorder *nesting_continue(uintptr_t frame)
{
	struct state_thread *t = &state_thread;
	struct recorder *r = t->recorder;

	if (__builtin_expect(!r || t->busy != (frame | NESTING_IN_REALLOC) || !state_is_fast(), 0))
		return NULL;
	t->busy = frame;
	return r;
}

#endif
