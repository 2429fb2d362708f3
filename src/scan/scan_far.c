/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans on another machine (scan_far.h). */
#include "src/scan/scan_far.h"

#include <errno.h>
#include <string.h>

int scan_far_begin(const struct far_order *f, const struct leak_scan_options *request)
{
	struct bytes b = { 0 };
	int rc;

	scan_outcome_request_put(&b, request);
	rc = b.failed ? -ENOMEM : f->begin(f->ctx, &b);
	bytes_free(&b);
	return rc;
}

bool scan_far_take(const struct far_order *f, int timeout_ms, struct leak_progress *progress,
	struct scan_outcome *o)
{
	struct far_working said = { 0 };
	struct bytes_cursor answer;
	const char *why = NULL;
	int rc = f->take(f->ctx, timeout_ms, &said, &answer, &why);

	progress->phase = said.phase <= LEAK_EXITING ? (unsigned)said.phase : LEAK_FOLLOWING;
	progress->read_bytes = said.read_bytes;
	if (rc == 0)
		return false;
	if (rc < 0)
		scan_outcome_fail(o, why);
	else if (scan_outcome_get(&answer, o) != 0)
		scan_outcome_fail(o, "no leak scan: the other side sent no valid result");
	return true;
}

const char *scan_far_why(int rc)
{
	return rc == -EPERM ? "no leak scan: the agent there may only read (--steer, or there "
			      "--serve=steer)"
			    : strerror(-rc);
}

void scan_far_run(
	const struct far_order *f, const struct leak_scan_options *request, struct scan_outcome *o)
{
	struct leak_progress unused = { 0 }, *p = request->progress ? request->progress : &unused;
	bool cancelled = false;
	int rc = scan_far_begin(f, request);

	if (rc != 0) {
		scan_outcome_fail(o, scan_far_why(rc));
		return;
	}
	while (!scan_far_take(f, FAR_ORDER_WAIT_MS, p, o)) {
		if (p->cancelled && !cancelled)
			f->cancel(f->ctx);
		cancelled = p->cancelled;
	}
}
