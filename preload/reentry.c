/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The re-entry guard (reentry.h). In hooks, on any thread; no locks, and no system calls but the
 * stack walk's.
 *
 * state_thread.busy holds the frame address of the active hook. A nested call (by an unwinder or
 * operator new that allocates, by a signal handler) passes through unrecorded. If a handler left by
 * siglongjmp, the word stays set. Addresses do not distinguish the two: a handler's own stack may
 * lie on either side. So the unwinder decides, by whether a hook of ours is among the callers.
 */
#include "preload/reentry.h"

#include "preload/inner_thunk.h"
#include "preload/recorder.h"
#include "preload/unwind_cfi.h"

#define NEW_BYTES_MAX 16384u /* of stack that an operator new takes on its way to malloc */

/* Whether a patched function whose thunk's frame is at `busy` has not been left by longjmp: its
 * return address is still there. */
static bool inner_returns(uintptr_t busy)
{
	return *(const uint64_t *)(busy - INNER_THUNK_RETURN) ==
	       (uint64_t)(uintptr_t)inner_thunk_return;
}

/* Whether the hook at `busy` is still active, among our callers. */
static bool is_nested(uintptr_t frame)
{
	uintptr_t busy = state_thread.busy & ~REENTRY_IN_REALLOC;

	if (__builtin_expect(busy == 0, 1))
		return false;
	/* An allocator at its own malloc: not worth a walk. */
	if (state_thread.in_allocator && frame < busy && busy - frame < NEW_BYTES_MAX)
		return state_thread.in_allocator != STATE_IN_INNER || inner_returns(busy);
	return !unwind_cfi_is_clear(frame, busy);
}

/* Code that calls malloc for exceptions. The size is written last. Relaxed: a thread that throws
 * there got its code from the loader. */
static uint64_t exceptions_start, exceptions_bytes;

void reentry_exceptions_from(uint64_t start, uint64_t bytes)
{
	ht_store_relaxed_64(&exceptions_start, start);
	ht_store_relaxed_64(&exceptions_bytes, bytes);
}

static bool is_for_exception(uintptr_t frame)
{
	uint64_t caller = ((const uintptr_t *)frame)[1];

	return caller - ht_load_relaxed_64(&exceptions_start) <
	       ht_load_relaxed_64(&exceptions_bytes);
}

bool reentry_in_inner(uintptr_t frame)
{
	return state_thread.in_allocator == STATE_IN_INNER && !is_for_exception(frame) &&
	       is_nested(frame);
}

void reentry_inner_passed(const void *p, size_t size)
{
	uintptr_t busy = state_thread.busy & ~REENTRY_IN_REALLOC;
	uint64_t wanted;

	if (!inner_returns(busy))
		return;
	wanted = *(const uint64_t *)(busy - INNER_THUNK_SIZE);
	/* operator new takes one byte where none are wanted. */
	if (size == wanted || (wanted == 0 && size == 1))
		*(uint64_t *)(busy - INNER_THUNK_PASSED) = (uint64_t)(uintptr_t)p;
}

/* A handler has abandoned the hook at `busy`: repairs what the hook left behind. */
static __attribute__((noinline)) void clear_abandoned(struct state_thread *t)
{
	struct recorder *r = t->recorder ? t->recorder : t->timed;

	t->unwinding = t->in_allocator = t->in_realloc = 0;
	if (r && state_is_on())
		counter_batch_repair(&r->counters.adding);
}

bool reentry_enter(uintptr_t frame)
{
	if (is_nested(frame))
		return false;
	if (__builtin_expect(state_thread.busy != 0, 0))
		clear_abandoned(&state_thread);
	state_thread.busy = frame;
	return true;
}

uintptr_t reentry_pause(uintptr_t frame)
{
	uintptr_t busy = state_thread.busy;

	if (__builtin_expect(!(busy & REENTRY_IN_REALLOC), 1) || !is_nested(frame))
		return 0;
	state_thread.busy = 0;
	return busy;
}

void reentry_resume(uintptr_t paused)
{
	if (__builtin_expect(paused != 0, 0))
		state_thread.busy = paused;
}

void reentry_leave(bool entered)
{
	if (entered)
		state_thread.busy = 0;
}
