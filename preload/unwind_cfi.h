/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unwinder by call frame information. Any thread, in hooks. */
#ifndef PRELOAD_UNWIND_CFI_H
#define PRELOAD_UNWIND_CFI_H

#include "preload/unwind_types.h"

/* Takes the stack. Finds again the part that it shares with the previous one. */
void unwind_cfi(struct unwind *u);
/* The same, from one end to the other: to check that. The previous stack stays what it is, but what
 * `u` points to afterwards is overwritten by the next walk. */
void unwind_cfi_afresh(struct unwind *u);
/*
 * Whether no frame of ours lies between that of a hook, at `frame`, and `until`, further out on the
 * same stack. False also if the stack cannot be followed that far. If `frame` is not deeper than
 * `until`: whether no frame of ours is among the hook's callers, as far as they can be followed.
 * For signal handlers, too: touches no data of the thread's.
 */
bool unwind_cfi_is_clear(uintptr_t frame, uintptr_t until);
/* Whether a signal handler is among the hook's callers, as far as they can be followed. */
bool unwind_cfi_in_handler(uintptr_t frame);
/* The stack pointer in the outermost frame of a thread, if all code called from there, in to
 * `frame`, belongs to the loader, to `module` or to us. 0: it does not, or the stack cannot be
 * followed. */
uint64_t unwind_cfi_outermost(uintptr_t frame, uint32_t module);

/* The number of guards, from the first on, that prove the frames up to the one of this number: the
 * innermost is 0. 0: unknown. Until the next stack is taken. */
uint32_t unwind_cfi_guards(const struct unwind *u, uint32_t frame);

#endif
