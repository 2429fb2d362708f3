/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stack of our own where the limit on the stack (ulimit -s) is smaller than libraries need. */
#ifndef SRC_UTIL_OWNSTACK_H
#define SRC_UTIL_OWNSTACK_H

/*
 * Calls `body` on this thread, on a stack that is large enough for the libraries: ncurses alone
 * takes 70 KB to read a description of a terminal. Returns what it returns. Without memory for such
 * a stack, on the one that is there. Main thread, once.
 */
int ownstack_run(int (*body)(void *ctx), void *ctx);

#endif
