/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mutual exclusion between viewers that scan the same process: only one can trace it, or ask its
 * library. The others wait, for a while. Any thread.
 */
#ifndef SRC_LEAK_ACCESS_SCAN_LOCK_H
#define SRC_LEAK_ACCESS_SCAN_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/leak/access/progress.h"
#include "src/trace/stop.h"

/* One per scan, all 0 at first. */
struct leak_scan_lock {
	uint64_t until_ns; /* set by the first wait */
	bool others; /* another heaptop had threads: leak_scan_lock_stop */
};

/* trace_stop, but stops nothing where another heaptop traces threads: then l->others, and -EPERM.
 */
int leak_scan_lock_stop(struct leak_scan_lock *l, struct trace_stop *s, pid_t pid, char *message);
/*
 * Waits a step of some milliseconds, which `progress` (may be NULL) reports. 0; -EBUSY: it has
 * been 10 s in all; -ECANCELED: the scan was cancelled.
 */
int leak_scan_lock_step(struct leak_scan_lock *l, struct leak_progress *progress);
/* Waits until no heaptop traces the process. As above, with a message for -EBUSY. */
int leak_scan_lock_await(
	struct leak_scan_lock *l, pid_t pid, struct leak_progress *progress, char *message);

#endif
