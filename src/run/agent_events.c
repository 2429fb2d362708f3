/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events for a desk (agent_events.h). The rings are read while a request waits for its answer; so
 * they are not read while the answer crosses, and what is overwritten meanwhile counts as missed.
 */
#include "src/run/agent_events.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/run/event_bytes.h"
#include "src/util/clock.h"

#define QUIET_NS UINT64_C(500000000) /* an answer without news, so that the desk asks again */

struct agent_events {
	struct far_worker worker;
	struct event_tail *tail; /* NULL: nothing is followed */
	char path[PATH_MAX]; /* of its segment, */
	uint32_t site;
	uint64_t begun_ns;
	struct event_copy has, now; /* the desk; here */
	struct bytes found;
};

static void tail_end(struct agent_events *a)
{
	event_tail_close(a->tail);
	a->tail = NULL;
}

static int tail_begin(struct agent_events *a, const char *path, uint32_t site)
{
	tail_end(a);
	if (snprintf(a->path, sizeof(a->path), "%s", path) >= (int)sizeof(a->path))
		return -ENAMETOOLONG;
	a->site = site;
	a->has.count = a->now.count = 0;
	a->has.missed = a->now.missed = 0;
	a->has.ended = a->now.ended = false;
	/* Without one, the answer says why. */
	a->tail = event_tail_open(path, site, a->now.why);
	return 0;
}

static int events_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	struct agent_events *a = ctx;
	struct bytes_cursor c = { request, request + len, false };
	const char *path = read_path(segment);
	struct event_request r;

	(void)pid;
	if (event_request_get(&c, &r) != 0)
		return -EPROTO;
	a->begun_ns = clock_monotonic_ns();
	if (r.begins)
		return tail_begin(a, path, r.site);
	/* After exec its numbers are of other sites. */
	if (a->tail && r.site == a->site && strcmp(path, a->path) == 0)
		return 0;
	tail_end(a);
	return -ESRCH;
}

static void events_cancel(void *ctx)
{
	tail_end(ctx);
}

static void tail_read(struct agent_events *a)
{
	const struct event_line *line;

	int rc = a->tail ? event_tail_update(a->tail) : 0;

	a->now.ended = !a->tail || rc < 0;
	if (!a->tail)
		return;
	if (rc < 0)
		event_tail_error(rc, a->now.why);
	a->now.count = event_tail_lines(a->tail, &line);
	memcpy(a->now.line, line, a->now.count * sizeof(*line));
	a->now.missed = event_tail_missed(a->tail);
}

static bool events_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	struct agent_events *a = ctx;

	(void)s;
	tail_read(a);
	bytes_free(&a->found);
	if (!event_copy_put(&a->found, &a->has, &a->now) &&
		clock_monotonic_ns() < a->begun_ns + QUIET_NS)
		return false;
	*found = &a->found;
	return true;
}

static void events_leave(void *ctx)
{
	struct agent_events *a = ctx;

	tail_end(a);
	bytes_free(&a->found);
}

struct agent_events *agent_events_new(void)
{
	struct agent_events *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->worker = (struct far_worker){
		.ctx = a,
		.begin = events_begin,
		.cancel = events_cancel,
		.look = events_look,
		.leave = events_leave,
	};
	return a;
}

const struct far_worker *agent_events_worker(const struct agent_events *a)
{
	return &a->worker;
}

void agent_events_free(struct agent_events *a)
{
	if (!a)
		return;
	events_leave(a);
	free(a);
}
