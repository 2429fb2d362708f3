/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one interface of the unwinders. Called inside hooks, on any thread, with recording's re-entry
 * guard held: an unwinder that allocates is served, and not recorded.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Once, at start. */
void unwind_start(void);
/*
 * Return addresses of the program's frames, innermost first, without the library's own. Fills at
 * most `depth` of `pcs`, which has room for STATE_SCRATCH_SPARE more. *truncated: outer frames are
 * missing, because of the depth or because the unwinder could not go on.
 */
uint32_t unwind_stack(uint64_t *pcs, uint32_t depth, bool *truncated);

#endif
