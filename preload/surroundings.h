/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library's environment when recording starts: which allocator comes next, and where the code
 * is whose calls have another meaning. On the thread that starts, after modules_start.
 */
#ifndef PRELOAD_SURROUNDINGS_H
#define PRELOAD_SURROUNDINGS_H

#include <stdbool.h>

/* The flag that says whether the process has one thread. */
const char *surroundings_single_threaded(void);
/* Whether all blocks are glibc's own, whose minimum distance is known. */
bool surroundings_are_glibc(void);
/* Fills in next_code. Before anything replaces the next allocator's functions. */
void surroundings_code_find(void);
/* Fills in next_inside, where functions are patched. */
void surroundings_insides_find(void);

#endif
