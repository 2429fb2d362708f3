/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unwinder by call frame information. Any thread, in hooks. */
#ifndef PRELOAD_UNWIND_CFI_H
#define PRELOAD_UNWIND_CFI_H

#include "preload/unwind_types.h"

/* Takes the stack; as far as it is that of `last`, which may be NULL, by copying. */
void unwind_cfi(struct unwind *u, const struct unwind *last);
/*
 * Whether no frame of ours lies between that of a hook, at `frame`, and `until`, further out on the
 * same stack. False also where the way there cannot be followed. Where `frame` is not deeper than
 * `until`: whether no frame of ours is among the hook's callers, as far as they can be followed.
 * Of signal handlers' use: touches nothing of the thread's.
 */
bool unwind_cfi_is_clear(uintptr_t frame, uintptr_t until);
/*
 * The stack pointer in the outermost frame of a thread, if all that is called from there, in to
 * `frame`, is of the loader, of `module` or of ours. 0: it is not, or that cannot be followed.
 */
uint64_t unwind_cfi_outermost(uintptr_t frame, uint32_t module);

#endif
