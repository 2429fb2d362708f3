/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the viewer. */
#ifndef SRC_UTIL_THREAD_H
#define SRC_UTIL_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Enough for every viewer thread but the symboliser's; far below any sensible memory limit. */
#define THREAD_STACK_BYTES ((size_t)256 * 1024)

/*
 * Starts a thread with a stack of that size, whatever `ulimit -s` says, and with all signals
 * blocked: the main thread handles them. 0; -ENOMEM without memory for the stack, -EAGAIN at the
 * limit of threads, or another -errno.
 */
int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ctx), void *ctx);

#endif
