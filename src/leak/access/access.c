/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice among the methods of access (access.h, README.md). */
#include "src/leak/access/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/leak/access/consent_access.h"
#include "src/leak/access/copy_access.h"
#include "src/leak/access/core_access.h"
#include "src/leak/access/lent_access.h"
#include "src/leak/access/stop_access.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

void leak_access_prepare(struct leak_access *a)
{
	a->direct = a->core			    ? &leak_core_access
		    : a->copying == LEAK_COPY_NEVER ? &leak_stop_access
						    : &leak_copy_access;
	a->ops = a->direct;
	a->needs_table = a->has_table = false;
	a->direct->prepare(a);
}

/* ---- where we may not trace it ---- */

static void refusal_add(struct leak_access *a, int rc)
{
	size_t at = strlen(a->message);

	if (at == 0)
		at = (size_t)snprintf(a->message, TRACE_MESSAGE_MAX,
			"process %d cannot be scanned: no permission to stop it (run heaptop as "
			"root, or "
			"start the program with it)",
			(int)a->pid);
	if (rc == 0)
		snprintf(a->message + at, TRACE_MESSAGE_MAX - at, "; %s", a->refusal);
	else
		snprintf(a->message + at, TRACE_MESSAGE_MAX - at, "; %s: %s", a->refusal,
			strerror(-rc));
}

static bool is_refused(const struct leak_access *a, int rc)
{
	return (rc == -EPERM || rc == -EACCES) && trace_stop_tracer(a->pid) == 0;
}

/* `refused`: the error of the direct way. 0, or -errno with a message. */
static int help_take(struct leak_access *a, int refused)
{
	int rc = 0;

	if (!a->library)
		a->library = leak_library_request_open(
			a->segment, a->pid, a->progress, &a->refusal, &rc);
	if (!a->library) {
		refusal_add(a, rc);
		return refused;
	}
	if (a->report->refused == 0) {
		rc = leak_consent_access.take(a);
		if (a->report->consented) {
			a->ops = &leak_consent_access;
			return rc;
		}
	}
	/* Not Yama alone refuses, or the program does: its library may still lend a copy. */
	if (leak_lent_access.take(a) != 0) {
		refusal_add(a, 0);
		return refused;
	}
	a->ops = &leak_lent_access;
	a->report->refused = refused;
	return 0;
}

/* Blocks hold pointers of 4 bytes there, which would all seem lost. */
static int narrow_refuse(struct leak_access *a)
{
	if (a->core || !proc_is_narrow(a->pid))
		return 0;
	snprintf(a->message, TRACE_MESSAGE_MAX,
		"process %d cannot be scanned: it is a 32-bit program, and leak scans are for "
		"64-bit ones",
		(int)a->pid);
	return -ENOTSUP;
}

int leak_access_take(struct leak_access *a)
{
	int rc = narrow_refuse(a);

	if (rc != 0)
		return rc;
	rc = a->report->refused;
	a->start_ns = clock_monotonic_ns();
	if (rc == 0)
		rc = a->direct->take(a);
	return !a->core && !a->lock.others && is_refused(a, rc) ? help_take(a, rc) : rc;
}

int leak_access_open(struct leak_access *a)
{
	return a->ops->open(a);
}

int leak_access_detach(struct leak_access *a)
{
	return a->ops->detach ? a->ops->detach(a) : 0;
}

/* ---- its end ---- */

bool leak_access_hold(struct leak_access *a, struct trace_stop *out)
{
	if (!a->last || !trace_stop_stands(&a->stop))
		return false;
	*out = a->stop;
	a->stop = (struct trace_stop){ 0 };
	return true;
}

int leak_access_release(struct leak_access *a, int rc)
{
	int end = a->ops->release(a);

	if (rc != 0)
		return rc;
	return end == -ESRCH ? leak_access_ops_ended(a) : end;
}

void leak_access_reset(struct leak_access *a)
{
	leak_space_close(&a->space);
}

bool leak_access_is_locked(const struct leak_access *a)
{
	return a->lock.others;
}

int leak_access_wait(struct leak_access *a)
{
	return leak_scan_lock_await(&a->lock, a->pid, a->progress, a->message);
}

bool leak_access_retry_in_place(struct leak_access *a)
{
	if (!a->copy.lost)
		return false;
	a->copying = LEAK_COPY_NEVER;
	a->copy.lost = false;
	a->report->copied = false;
	snprintf(a->report->no_copy, sizeof(a->report->no_copy), "%s",
		a->copy.headroom.ended ? "memory ran short, so the copy was ended"
				       : "the copy was killed before it was read");
	return true;
}

void leak_access_close(struct leak_access *a)
{
	static const struct leak_access_ops *const ways[] = { &leak_stop_access, &leak_copy_access,
		&leak_consent_access, &leak_lent_access };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i]->close)
			ways[i]->close(a);
	leak_library_request_close(a->library);
	a->library = NULL;
}
