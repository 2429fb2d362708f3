/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What valgrind's client requests say of the program's own allocators and pools: blocks of kind
 * "pool", as heaptop.h's. Requests of which heaptop has no notion do nothing. Any thread; errno is
 * kept.
 */
#ifndef PRELOAD_VALGRIND_CALL_H
#define PRELOAD_VALGRIND_CALL_H

#include <stdint.h>

/* A request: its code, then five arguments. `frame`: as a hook's (record.h). */
void valgrind_call(const uint64_t arg[6], uintptr_t frame);

#endif
