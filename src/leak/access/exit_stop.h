/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last instant of a process: all its threads have ended as far as the program goes, every
 * destructor has run, and its memory is still whole. Source: ptrace(2), PTRACE_O_TRACEEXIT. On the
 * thread that stopped the process (stop.h).
 */
#ifndef SRC_LEAK_ACCESS_EXIT_STOP_H
#define SRC_LEAK_ACCESS_EXIT_STOP_H

#include "src/leak/access/progress.h"
#include "src/leak/access/stop.h"

/*
 * Lets a stopped process go on, calls `go`, which has it end, and returns when it has stopped on
 * its way out of the kernel's do_exit. Signals reach the process meanwhile, threads that it makes
 * are followed, and single threads may end. There is no time limit: `progress` (may be NULL)
 * cancels.
 *
 * 0: it stands at its last instant, `*last` is the thread that ended it. -ESTALE: it called exec
 * and was let go. -ESRCH: it was gone without a stop. -ECANCELED. Another -errno.
 */
int leak_exit_stop(struct leak_stop *s, void (*go)(void *ctx), void *ctx,
	struct leak_progress *progress, pid_t *last);

/* Where the first thread's stack began when the process was made, if that thread has ended already;
 * else 0. Of a process at its last instant. */
uint64_t leak_exit_first_stack(const struct leak_stop *s);

#endif
