/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two viewers that scan one process: only one can trace it, or ask its library, and the other waits
 * until it is its turn, for a while. Any thread.
 */
#ifndef SRC_LEAK_ACCESS_SCAN_LOCK_H
#define SRC_LEAK_ACCESS_SCAN_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/access/progress.h"
#include "src/leak/access/stop.h"

/* One for each scan, all 0 at first. */
struct leak_scan_lock {
	uint64_t until_ns; /* set by the first wait */
	bool others; /* leak_scan_lock_stop */
};

/* The heaptop that traces a process, or a thread of it, by the pid of its thread that does; 0: none
 * does. */
pid_t leak_scan_lock_holder(pid_t pid);
/* leak_stop, but nothing is stopped where another heaptop has threads: then t->others, and -EPERM.
 */
int leak_scan_lock_stop(struct leak_scan_lock *t, struct leak_stop *s, pid_t pid, char *message);
/*
 * Waits a step, some milliseconds; meanwhile `progress`, which may be NULL, says so. 0; -EBUSY: it
 * has been 10 s in all; -ECANCELED, when progress said so.
 */
int leak_scan_lock_step(struct leak_scan_lock *t, struct leak_progress *progress);
/* Waits until no heaptop traces it any more. As above, with a message for -EBUSY. */
int leak_scan_lock_await(
	struct leak_scan_lock *t, pid_t pid, struct leak_progress *progress, char *message);

#endif
