/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records the blocks that valgrind's client requests report of the program's own allocators and
 * pools: they are of kind "pool", like those reported through heaptop.h. Requests that heaptop
 * does not know do nothing. Any thread; errno is kept.
 */
#ifndef PRELOAD_VALGRIND_CALL_H
#define PRELOAD_VALGRIND_CALL_H

#include <stdint.h>

/* A request: its code, then five arguments. `frame`: as a hook's (record.h). */
void valgrind_call(const uint64_t arg[6], uintptr_t frame);

#endif
