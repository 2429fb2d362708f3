/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One scan at a time (scan_lock.h). */
#include "src/leak/access/scan_lock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/trace/other.h"
#include "src/util/clock.h"

#define WAIT_NS UINT64_C(10000000000) /* a scan takes less, unless the program is very large */
#define STEP_NS 5000000

static bool is_refused(int rc)
{
	return rc == -EPERM || rc == -EACCES;
}

static int stop_once(struct leak_scan_lock *l, struct trace_stop *s, pid_t pid, char *message)
{
	int rc = trace_stop(s, pid, "scanned", message);
	bool refused = is_refused(rc);

	for (size_t i = 0; rc == 0 && i < s->count; i++)
		refused |= s->thread[i].state == TRACE_THREAD_UNSEIZED;
	l->others = refused && trace_other_heaptop(pid) != 0;
	if (!l->others || rc != 0)
		return rc;
	trace_stop_release(s);
	return -EPERM;
}

int leak_scan_lock_stop(struct leak_scan_lock *l, struct trace_stop *s, pid_t pid, char *message)
{
	int rc = stop_once(l, s, pid, message);

	/* The other heaptop may have let it go before we looked for it. */
	if (!is_refused(rc) || l->others || trace_stop_tracer(pid) != 0)
		return rc;
	*message = '\0';
	return stop_once(l, s, pid, message);
}

int leak_scan_lock_step(struct leak_scan_lock *l, struct leak_progress *progress)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	uint64_t now = clock_monotonic_ns();

	if (l->until_ns == 0)
		l->until_ns = now + WAIT_NS;
	if (progress && progress->cancelled)
		return -ECANCELED;
	if (now > l->until_ns)
		return -EBUSY;
	if (progress)
		progress->phase = LEAK_WAITING;
	nanosleep(&step, NULL);
	return 0;
}

/* The process of a thread. */
static long process_of(pid_t tid)
{
	char path[64];
	long pid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	(void)proc_status_number(path, "\nTgid:", false, &pid);
	return pid;
}

int leak_scan_lock_await(
	struct leak_scan_lock *l, pid_t pid, struct leak_progress *progress, char *message)
{
	pid_t tracer_tid = 0;
	int rc = 0;

	while (rc == 0 && (tracer_tid = trace_other_heaptop(pid)) != 0)
		rc = leak_scan_lock_step(l, progress);
	if (progress)
		progress->phase = LEAK_STOPPING;
	if (rc == -EBUSY)
		snprintf(message, TRACE_MESSAGE_MAX,
			"process %d cannot be scanned: another heaptop (%ld) is scanning it; try "
			"again "
			"when that scan has ended",
			(int)pid, process_of(tracer_tid));
	return rc;
}
