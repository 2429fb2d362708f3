/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that a patched client request calls: passes the request to valgrind_call, and returns
 * with every register unchanged, including whole vector registers, since a request is in the
 * middle of a function.
 */
#ifndef PRELOAD_VALGRIND_THUNK_H
#define PRELOAD_VALGRIND_THUNK_H

/* Finds out which state the processor has. Before the first call of the thunk. */
void valgrind_thunk_start(void);
/* Called with rsp 136 below the function's own: beyond what it may have below its stack pointer,
 * and by the length of a return address. rax: the six words of the request. */
extern const char valgrind_thunk[] __attribute__((visibility("hidden")));

#endif
