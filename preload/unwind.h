/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a hook to the call stack that led to it. Called on any thread, with recording's re-entry
 * guard held: an unwinder that allocates is served, and not recorded.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include "preload/unwind_types.h"

/* Chooses the unwinder by HEAPTOP_UNWINDER: own (the default), libunwind, or check. Once, at start.
 */
void unwind_start(const char *choice);
/* Whether every stack is to be taken and compared, remembered or not. */
extern bool unwind_check __attribute__((visibility("hidden")));
static inline bool unwind_checks(void)
{
	return unwind_check;
}
/* Takes the stack by the chosen unwinder. `last`: what the thread took before, with the arrays as
 * they were left. `spare`: to check by. */
void unwind_take(struct unwind *u, const struct unwind *last, struct unwind *spare);

#endif
