/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a patched client request goes: calls valgrind_call with the request, and returns with every
 * register as it was, the vector registers whole: a request stands amid a function.
 */
#ifndef PRELOAD_VALGRIND_THUNK_H
#define PRELOAD_VALGRIND_THUNK_H

/* Finds out which state the processor has. Before the first call of the thunk. */
void valgrind_thunk_start(void);
/* Called with rsp 136 below the function's own: beyond what it may have below its stack pointer,
 * and by the length of a return address. rax: the six words of the request. */
extern const char valgrind_thunk[] __attribute__((visibility("hidden")));

#endif
