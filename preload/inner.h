/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocators inside the program: a malloc or operator new that precedes ours in the search order,
 * functions of jemalloc, tcmalloc, mimalloc and TBB under names of their own, and those of the
 * user's file. Their entries are patched (patch/), so that they are recorded as our hooks are;
 * the segment lists those that cannot be patched, with the reason. Client requests of Valgrind
 * are patched likewise (valgrind_find.h).
 *
 * Code is written only while no other thread can run it: while there is one thread, and for a
 * library that is being loaded before any of its code can run. The loader says so: it calls a
 * function of its own when its list has changed (r_debug.r_brk, made for debuggers), which is
 * patched, too.
 */
#ifndef PRELOAD_INNER_H
#define PRELOAD_INNER_H

#include <stdbool.h>

/* Patches what is loaded. Once, when the segment is there and recording is not on yet. */
void inner_start(void);
/* The same as a viewer attaches; what our hooks stand for is patched, too, unless the program finds
 * them anyway (`is_preloaded`). The jumps are listed in heaptop_attached (jumps.h). NULL: done.
 * Else the name of a function that must be recorded and cannot be, with the reason; inner_detach
 * undoes the rest. */
const char *inner_attach(bool is_preloaded, const char **reason);
/* A viewer has taken all jumps out, or never written them. */
void inner_detach(void);
/* A library is about to be opened with RTLD_DEEPBIND: it will find the functions of libc, and of
 * the C++ runtime, before our hooks. So these are patched, once, if libc's malloc is the next
 * allocator; while there is one thread. Otherwise it is listed that they are not. Any thread. */
void inner_deep(void);
/* After inner_start: whether the malloc that precedes ours is recorded. */
bool inner_has_malloc(void);

#endif
