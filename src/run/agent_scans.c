/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans for a desk (agent_scans.h). */
#include "src/run/agent_scans.h"

#include <errno.h>
#include <stdlib.h>

#include "src/scan/scan_answer.h"
#include "src/scan/scan_outcome.h"

struct agent_scans {
	struct far_worker worker;
	struct scan_answer *answer; /* the last one; or NULL */
};

static int scan_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	struct agent_scans *a = ctx;
	struct bytes_cursor c = { request, request + len, false };
	struct leak_scan_options o = { .pid = pid };
	int rc = scan_outcome_request_get(&c, &o);

	if (rc != 0)
		return rc;
	if (o.pid == 0)
		return -ESRCH;
	scan_answer_free(a->answer);
	a->answer = scan_answer_start(read_path(segment), &o);
	return a->answer ? 0 : -errno;
}

static void scan_cancel(void *ctx)
{
	struct agent_scans *a = ctx;

	if (a->answer)
		scan_answer_cancel(a->answer);
}

static bool scan_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	struct agent_scans *a = ctx;
	const struct leak_progress *p = scan_answer_progress(a->answer);

	s->phase = p->phase;
	s->read_bytes = p->read_bytes;
	*found = scan_answer_bytes(a->answer);
	return *found != NULL;
}

static void scan_leave(void *ctx)
{
	struct agent_scans *a = ctx;

	scan_answer_free(a->answer);
	a->answer = NULL;
}

struct agent_scans *agent_scans_new(void)
{
	struct agent_scans *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->worker = (struct far_worker){
		.ctx = a,
		.begin = scan_begin,
		.cancel = scan_cancel,
		.look = scan_look,
		.leave = scan_leave,
	};
	return a;
}

const struct far_worker *agent_scans_worker(const struct agent_scans *a)
{
	return &a->worker;
}

void agent_scans_free(struct agent_scans *a)
{
	if (!a)
		return;
	scan_leave(a);
	free(a);
}
