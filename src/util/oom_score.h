/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking at all blocks of a program takes memory, some tens of bytes for each, and in a container
 * that is taken from the program's limit. When it gets short there the kernel ends the largest
 * process: that would be the program. So this one is to go first meanwhile. Any thread.
 */
#ifndef SRC_UTIL_YIELD_H
#define SRC_UTIL_YIELD_H

/* In pairs, which may overlap. May be in vain, in a sandbox. */
void yield_begin(void);
void yield_end(void);
/* Around the start of a process, which would inherit that; nothing else of these in between. */
void yield_spawn_begin(void);
void yield_spawn_end(void);

#endif
