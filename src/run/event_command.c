/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r on a recording of all events (event_command.h). */
#include "src/run/event_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/model/moment.h"
#include "src/export/events.h"
#include "src/record/event_snapshot.h"
#include "src/run/at_time.h"
#include "src/run/failure.h"
#include "src/run/output_file.h"
#include "src/run/packed_file.h"
#include "src/run/report.h"

/* The timeline that --at is understood by: any moment can be shown. */
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

/* All figures are of then. */
static struct snapshot *peak_make(struct event_recording *r, struct snapshot *last)
{
	struct snapshot *then = event_snapshot_peak(r, last), *peak;

	peak = then ? moment_peak_then(last, then) : NULL;
	snapshot_unref(then);
	return peak;
}

static struct snapshot *moment_make(
	struct event_recording *r, const struct moment *m, struct snapshot *last)
{
	if (m->kind == SNAP_PEAK)
		return peak_make(r, last);
	if (m->kind == SNAP_RANGE)
		return event_snapshot_range(r, m->from_ns, m->ns);
	return event_snapshot(r, m->kind == SNAP_PAST ? m->ns : UINT64_MAX);
}

/* The moment of --at, in place of `last`. NULL: it was printed why. */
static struct snapshot *moment_take(
	struct event_recording *r, const char *at, struct snapshot *last)
{
	static struct timeline_point points[SNAP_HISTORY_POINTS + 1];
	struct timeline t = { 0 };
	char message[AT_TIME_MESSAGE_MAX], what[160];
	struct moment m;
	struct snapshot *s = NULL;

	timeline_make(last, &t, points);
	snprintf(what, sizeof(what), "--at %.120s", at);
	if (at_time_find(at, last, &t, &m, message) != 0)
		failure_print_reason(what, message);
	else if (!(s = moment_make(r, &m, last)))
		failure_print_errno("cannot replay the recording", -errno);
	snapshot_unref(last);
	return s;
}

struct snapshot *event_command_load(const char *path, const char *at)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r = event_read_open(path, message);
	struct snapshot *last = r ? event_snapshot(r, UINT64_MAX) : NULL, *s;

	if (!r) {
		failure_print(message);
		return NULL;
	}
	if (!last) {
		failure_print_errno("cannot replay the recording", -errno);
		event_read_free(r);
		return NULL;
	}
	event_snapshot_keep(last, r);
	if (!at)
		return last;
	/* The last moment may be dropped: the recording is then the other one's. */
	snapshot_ref(last);
	s = moment_take(r, at, last);
	if (s && s->owner != last->owner) {
		event_snapshot_keep(last, NULL);
		event_snapshot_keep(s, r);
	}
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
		s = moment_take(r, o->at, s);
	if (!s)
		return FAILURE_EXIT;
	rc = o->batch ? report_frame_put(fd, s, o) : report_put(fd, s, o, &only);
	snapshot_unref(s);
	return rc;
}

/* ---- all events, in other tools' formats ---- */

#define PIECE_BYTES 65536u

struct exporting {
	struct event_recording *r;
	uint32_t stream;
	const struct export_events_format *format;
	struct export_events *x;
	struct strbuf text;
	struct packed_file *file;
	uint64_t ns;
	int error;
};

static void text_put(struct exporting *c)
{
	int rc = c->text.failed ? -ENOMEM : packed_file_put(c->file, c->text.data, c->text.len);

	if (c->error == 0)
		c->error = rc;
	strbuf_reset(&c->text);
}

static void event_put(void *ctx, const struct event *e)
{
	struct exporting *c = ctx;
	const char *function;
	const struct export_event out = { .frees = e->kind == EVENT_FREE,
		.ns = e->tick << EVENT_TICK_SHIFT,
		.number = e->number,
		.size = e->size,
		.site = e->site,
		.stack = e->kind == EVENT_LOST
				 ? NULL
				 : event_read_stack(c->r, c->stream, e->site, &function) };

	c->ns = out.ns;
	if (e->kind == EVENT_LOST || c->error != 0)
		return;
	c->format->event(c->x, &out);
	if (c->text.len >= PIECE_BYTES)
		text_put(c);
}

static int events_put(struct event_recording *r, const struct options *o, int fd)
{
	static const struct export_events_format *const formats[] = { &export_events_mtrace,
		&export_events_heaptrack };
	struct exporting c = { .r = r,
		.stream = event_snapshot_stream(r),
		.format = formats[strcmp(o->event_format, formats[0]->name) != 0] };
	const struct event_about *a = event_read_about(r, c.stream);
	const struct export_events_about about = { a->command, (uint64_t)sysconf(_SC_PAGESIZE) };
	const struct event_sink sink = { &c, event_put };
	int rc;

	c.file = packed_file_open(fd, o->output);
	c.x = c.file ? c.format->begin(&c.text, &about) : NULL;
	c.error = c.x ? event_read_each(r, c.stream, &sink) : -ENOMEM;
	if (c.x && !c.format->end(c.x, a->ended ? a->ended_ns : c.ns))
		c.error = -ENOMEM;
	text_put(&c);
	rc = packed_file_close(c.file);
	strbuf_free(&c.text);
	rc = c.error ? c.error : rc;
	if (rc == 0 && a->damaged)
		fprintf(stderr, "heaptop: %s: parts of the recording are damaged and left out\n",
			o->file);
	return rc ? failure_print_errno("cannot write all events", rc) : 0;
}

int event_command_run(const struct options *o)
{
	char message[EVENT_FILE_MESSAGE_MAX];
	struct event_recording *r;
	int fd, rc;

	fd = output_file_open(o, STDOUT_FILENO);
	if (fd < 0)
		return FAILURE_EXIT;
	r = event_read_open(o->file, message);
	if (!r)
		return failure_print(message);
	rc = o->event_format ? events_put(r, o, fd) : snapshot_put(r, o, fd);
	event_read_free(r);
	return rc;
}
