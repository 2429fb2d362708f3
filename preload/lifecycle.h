/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of recording in this process: start, fork, end. Any thread, in hooks; the loader's
 * constructor and destructor calls, too.
 */
#ifndef PRELOAD_LIFECYCLE_H
#define PRELOAD_LIFECYCLE_H

#include "preload/state.h"

/* Slow path of lifecycle_on: starts recording at the first event; cleans up once in a forked child.
 */
bool lifecycle_wake(void);

/* Whether this event is to be recorded. */
static inline bool lifecycle_on(void)
{
	return __builtin_expect(state_is_on(), 1) || lifecycle_wake();
}

/* Around a call of fork: in the parent before it, in both after it. `frame`: of the hook. */
void lifecycle_before_fork(uintptr_t frame);
void lifecycle_after_fork(void);

/* The process is about to end by exit, _exit or quick_exit. */
void lifecycle_exit(void);

#endif
