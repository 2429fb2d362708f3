/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of recording in this process: start, fork, exit. Any thread, in hooks; also called by
 * the loader's constructor and destructor calls.
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

/* Called around fork: in the parent before it, in both processes after it. `frame`: the hook's. */
void lifecycle_before_fork(uintptr_t frame);
void lifecycle_after_fork(void);

/* The process is about to end by exit, _exit or quick_exit. */
void lifecycle_exit(void);

#endif
