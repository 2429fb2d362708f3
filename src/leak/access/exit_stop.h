/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops a process at its last instant: all threads have left the program's code, all destructors
 * have run, and its memory is still whole. Source: ptrace(2), PTRACE_O_TRACEEXIT. On the thread
 * that stopped the process (stop.h).
 */
#ifndef SRC_LEAK_ACCESS_EXIT_STOP_H
#define SRC_LEAK_ACCESS_EXIT_STOP_H

#include "src/leak/access/progress.h"
#include "src/trace/stop.h"

/*
 * Lets a stopped process go on, calls `go`, which has it end, and returns when it has stopped on
 * its way out, in the kernel's do_exit. Meanwhile signals reach the process, new threads are
 * followed, and single threads may end. There is no time limit: `progress` (may be NULL)
 * cancels.
 *
 * 0: it is at its last instant, and `*last` is the thread that ended it. -ESTALE: it called exec
 * and was let go. -ESRCH: it ended without a stop. -ECANCELED. Another -errno.
 */
int leak_exit_stop(struct trace_stop *s, void (*go)(void *ctx), void *ctx,
	struct leak_progress *progress, pid_t *last);

/* For a process at its last instant: where the first thread's stack began when the process was
 * made, if that thread has already ended; else 0. */
uint64_t leak_exit_stop_first_stack(const struct trace_stop *s);

#endif
