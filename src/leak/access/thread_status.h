/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a process as /proc lists them, while they run. Any thread. */
#ifndef SRC_LEAK_ACCESS_THREAD_STATUS_H
#define SRC_LEAK_ACCESS_THREAD_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

/* Takes a thread and the path of its status file. True: the visit ends. */
typedef bool leak_thread_status_visitor(void *ctx, pid_t tid, const char *path);

/* Calls `visit` for each thread until it returns true. Whether it did; true, too, if the threads
 * cannot be listed. */
bool leak_thread_status_visit(pid_t pid, leak_thread_status_visitor *visit, void *ctx);

#endif
