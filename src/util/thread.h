/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the viewer. */
#ifndef SRC_UTIL_THREAD_H
#define SRC_UTIL_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Enough for any of ours but the symboliser's; far below what a limit on memory has room for. */
#define THREAD_STACK_BYTES ((size_t)256 * 1024)

/*
 * Starts a thread with a stack of that size, whatever `ulimit -s` says, and with all signals
 * blocked: they are the main thread's business. 0; -ENOMEM without memory for the stack, -EAGAIN
 * when there may be no more threads, or another -errno.
 */
int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ctx), void *ctx);

#endif
