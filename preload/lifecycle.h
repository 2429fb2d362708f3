/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of recording in this process: start, fork, exit. Any thread, in hooks; also called by
 * the loader's constructor and destructor calls.
 */
#ifndef PRELOAD_LIFECYCLE_H
#define PRELOAD_LIFECYCLE_H

#include "preload/state.h"
#include "shm/attached.h"

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

/* Recording begins as a viewer asks for it in *a, which stays, in the middle of the program's life;
 * the jumps to the hooks are listed. 0, or -errno; with *why, a text that stays. */
int lifecycle_attach(const struct ht_attached *a, const char **why);
/* It ends. No thread is in a hook, and none has anything of the session left (shm/attached.h).
 * Makes system calls only, and takes no lock. */
void lifecycle_detach(void);
/* Unmaps the segment and the recorders that this has left. The other threads may run. */
void lifecycle_unmap(void);

/* A child with our memory may be about to be made: what ends is not always the program. */
void lifecycle_memory_lent(void);

/* The process is about to end by exit, _exit or quick_exit. */
void lifecycle_exit(void);

#endif
