/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time limits of system calls that are restarted (restart.h). A restarted call has its whole limit
 * again, so a program that is stopped more often than that would wait for ever. So a table
 * remembers when each thread was first let go on with its call. For a thread that stops a process.
 */
#ifndef SRC_TRACE_RESTART_LIMIT_H
#define SRC_TRACE_RESTART_LIMIT_H

#include "src/trace/thread.h"

/* When a thread has stopped, and its registers were read. */
void restart_limit_note(struct trace_thread *t);
/* Before its call is restarted. True: since the first restart that is known, its limit has passed;
 * then it returns *result. */
bool restart_limit_passed(struct trace_thread *t, long *result);

#endif
