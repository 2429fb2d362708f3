/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Freed blocks whose entries do not stay in the live table: large ones, and others outside its
 * direct part. Remembers the last several hundred, to recognize a second free. Any thread, in
 * hooks: no locks, no system calls.
 */
#ifndef PRELOAD_FORMER_H
#define PRELOAD_FORMER_H

#include <stdbool.h>
#include <stdint.h>

/* The block at `addr`, of that counter, was freed. */
void former_note(uint64_t addr, uint32_t counter);
/* Whether one at `addr` was, and of which counter. */
bool former_find(uint64_t addr, uint32_t *counter);
/* From now on there were none: a forked child, or a viewer has detached. */
void former_forget(void);

#endif
