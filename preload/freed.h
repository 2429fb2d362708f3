/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which call stack freed which block, for the report of a double free. Only on request, since
 * each free then takes its stack, which costs as much as an allocation's; without a request this
 * code costs nothing. Remembers the latest free of some 60,000 addresses. Any thread, in hooks.
 */
#ifndef PRELOAD_FREED_H
#define PRELOAD_FREED_H

#include <stdbool.h>
#include <stdint.h>

/* As recording starts, if HEAPTOP_FREES asks for it. */
void freed_start(void);
/* A forked child: its parent's sites are not its own. */
void freed_forked(void);
/* A viewer has detached; no thread is in a hook. Makes system calls only. */
void freed_end(void);
/* Whether frees are remembered. */
bool freed_is_on(void);
/* The block at `addr` was freed by the stack of `site`. */
void freed_note(uint64_t addr, uint32_t site);
/* The site that freed the block at `addr` last; 0: not remembered. */
uint32_t freed_site(uint64_t addr);

#endif
