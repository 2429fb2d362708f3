/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r on a recording of all events (event_command.h). */
#include "src/run/event_command.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "src/model/moment.h"
#include "src/record/event_snapshot.h"
#include "src/run/at_time.h"
#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/report.h"

bool event_command_is(const struct options *o)
{
	return o->mode == OPTIONS_READ && event_file_is(o->file);
}

/* The time line that --at is understood by: any moment can be shown. */
static void timeline_make(const struct snapshot *s, struct timeline *t,
	struct timeline_point points[SNAP_HISTORY_POINTS + 1])
{
	for (unsigned i = 0; i < s->history_points; i++)
		points[t->npoints++] = (struct timeline_point){ .ns = i * s->history_step_ns,
			.live_bytes = s->history[i],
			.low_bytes = s->history[i],
			.high_bytes = s->history[i] };
	points[t->npoints++] = (struct timeline_point){ .ns = s->uptime_ns,
		.live_bytes = s->totals.live_bytes,
		.low_bytes = s->totals.live_bytes,
		.high_bytes = s->totals.live_bytes };
	t->points = points;
	t->replay = true;
}

/* The moment of --at, in place of `last`. NULL: it was printed why. */
static struct snapshot *moment_take(
	struct event_recording *r, const struct options *o, struct snapshot *last)
{
	static struct timeline_point points[SNAP_HISTORY_POINTS + 1];
	struct timeline t = { 0 };
	char message[AT_TIME_MESSAGE_MAX], what[160];
	struct moment m;
	struct snapshot *s = NULL;

	timeline_make(last, &t, points);
	snprintf(what, sizeof(what), "--at %.120s", o->at);
	if (at_time_find(o->at, last, &t, &m, message) != 0)
		failure_print_reason(what, message);
	else if (m.kind == SNAP_RANGE)
		failure_print_reason(what, "a recording of events shows moments, not ranges");
	else if (m.kind == SNAP_PEAK)
		s = moment_peak(last);
	else
		s = event_snapshot(r, m.kind == SNAP_PAST ? m.ns : UINT64_MAX);
	snapshot_unref(last);
	return s;
}

static int snapshot_put(struct event_recording *r, const struct options *o, int fd)
{
	const struct report_parts only = { 0 };
	struct snapshot *s = event_snapshot(r, UINT64_MAX);
	int rc;

	if (!s)
		return failure_print_errno("cannot replay the recording", -errno);
	if (o->at)
		s = moment_take(r, o, s);
	if (!s)
		return FAILURE_EXIT;
	rc = o->batch ? report_frame_put(fd, s, o) : report_put(fd, s, o, &only);
	snapshot_unref(s);
	return rc;
}

int event_command_run(const struct options *o)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r;
	int fd, rc;

	if (!o->batch && !o->report)
		return failure_print_reason(
			"a recording of events has no screen yet", "use --report, -b or --format");
	fd = output_file_open(o, STDOUT_FILENO);
	if (fd < 0)
		return FAILURE_EXIT;
	r = event_read_open(o->file, message);
	if (!r)
		return failure_print(message);
	rc = snapshot_put(r, o, fd);
	event_read_free(r);
	return rc;
}
