/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A larger stack if the limit on the stack (ulimit -s) is smaller than libraries need. */
#ifndef SRC_UTIL_LARGE_STACK_H
#define SRC_UTIL_LARGE_STACK_H

/*
 * Calls `body` on this thread, on a stack that is large enough for the libraries: ncurses alone
 * takes 70 KB to read a terminal description. Without memory for such a stack, uses the existing
 * one. Returns the result of `body`. Main thread, once.
 */
int large_stack_run(int (*body)(void *ctx), void *ctx);

#endif
