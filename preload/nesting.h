/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hooks inside hooks: of an unwinder or operator new that allocates, of a signal handler; and hooks
 * that a signal handler left by longjmp. `frame`: that of the hook that asks (record.h).
 */
#ifndef PRELOAD_NESTING_H
#define PRELOAD_NESTING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Marks the thread as inside an allocator that calls malloc and free itself (operator new), so that
 * one block is recorded once. False: it already was inside.
 */
bool nesting_enter(uintptr_t frame);
void nesting_leave(bool entered);
/*
 * If a handler's hook interrupts a realloc that is at the next allocator (hot.h): nothing of ours
 * is at work then, until nesting_resume gets what this returned.
 */
uintptr_t nesting_pause(uintptr_t frame);
void nesting_resume(uintptr_t paused);

#endif
