/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to a program's library (library_request.h). Source: proc(5) on status. */
#include "src/leak/access/library_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/leak/access/scan_lock.h"
#include "src/leak/access/thread_status.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define ASK_NS	     UINT64_C(1900000000) /* a program that allocates mostly answers within it */
#define BUSY_NS	     UINT64_C(2000000000) /* a copy gives back some 50 GB in this time */
#define BUSY_STEP_NS 2000000

/*
 * Whether a system call that we have a thread make may kill it: the thread has more filters than we
 * have. A container's filters apply to all processes in it, and a program that we launched inherits
 * ours.
 */
static bool has_sandbox(void *ctx, pid_t tid, const char *path)
{
	long mode = 0, filters = 0, ours = 0;

	if (!proc_status_number(path, "\nSeccomp:", false, &mode))
		return true;
	if (mode == 0)
		return false;
	return mode != 2 || !proc_status_number(path, "\nSeccomp_filters:", false, &filters) ||
	       !proc_status_number("/proc/self/status", "\nSeccomp_filters:", false, &ours) ||
	       filters > ours;
}

static bool is_visible(pid_t pid)
{
	char path[64];
	long tgid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return proc_status_number(path, "\nTgid:", false, &tgid);
}

static bool may_continue(void *ctx)
{
	const struct leak_library_request *l = ctx;

	return !leak_progress_is_cancelled(l->progress) &&
	       !leak_thread_status_visit(l->pid, has_sandbox, NULL);
}

/* Waits while another heaptop uses the library. */
static int coop_open(struct leak_library_request *l, struct read_segment *segment)
{
	struct leak_scan_lock lock = { 0 };
	int rc, waited = 0;

	while (!(l->coop = read_coop_open(segment, &rc)) && rc == -EBUSY && waited == 0)
		waited = leak_scan_lock_step(&lock, l->progress);
	if (l->progress)
		l->progress->phase = LEAK_STOPPING;
	return l->coop ? 0 : rc;
}

struct leak_library_request *leak_library_request_open(struct read_segment *segment, pid_t pid,
	struct leak_progress *progress, const char **why, int *rc)
{
	struct leak_library_request *l = calloc(1, sizeof(*l));

	*why = "out of memory";
	*rc = 0;
	if (!l)
		return NULL;
	*l = (struct leak_library_request){ .pid = pid, .progress = progress };
	if (!is_visible(pid)) {
		*why = "it has ended, or /proc hides it from us";
	} else if (leak_thread_status_visit(pid, has_sandbox, NULL)) {
		*why = "its library is not asked for help, because it has a seccomp filter";
	} else {
		*rc = coop_open(l, segment);
		*why = *rc == -EBUSY ? "another heaptop is scanning it; try again when that scan "
				       "has ended"
				     : "its segment cannot be opened for writing";
		*rc = *rc == -EBUSY ? 0 : *rc;
	}
	if (l->coop)
		return l;
	free(l);
	return NULL;
}

static int ask_once(struct leak_library_request *l, enum ht_coop_ask what)
{
	struct read_coop_question w = { .ask = what,
		.viewer = (uint32_t)getpid(),
		.ns = ASK_NS,
		.goes_on = may_continue,
		.ctx = l };
	int rc = l->idle ? -ETIMEDOUT : read_coop_ask(l->coop, &w);

	l->idle = rc == -ETIMEDOUT;
	return rc;
}

int leak_library_request_ask(struct leak_library_request *l, enum ht_coop_ask what)
{
	const struct timespec pause = { .tv_nsec = BUSY_STEP_NS };
	uint64_t until = clock_monotonic_ns() + BUSY_NS;
	int rc;

	while ((rc = ask_once(l, what)) == -EBUSY && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	return rc;
}

void leak_library_request_close(struct leak_library_request *l)
{
	if (!l)
		return;
	read_coop_close(l->coop);
	free(l);
}
