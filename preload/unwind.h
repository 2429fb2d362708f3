/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the call stack that led to a hook. Called on any thread, with the re-entry guard held: an
 * unwinder that allocates is served, and not recorded.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include "preload/unwind_types.h"

/* Selects the unwinder by HEAPTOP_UNWINDER: own (the default), libunwind, or check. Once, at start.
 */
void unwind_start(const char *choice);
/* Whether every stack is unwound and compared, remembered or not. */
extern bool unwind_check __attribute__((visibility("hidden")));
static inline bool unwind_checks(void)
{
	return unwind_check;
}
/* Takes the stack by the selected unwinder. `u`: the thread's own, as the last call left it. */
void unwind_take(struct unwind *u);

#endif
