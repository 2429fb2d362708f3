/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --record-events in a run (event_option.h). */
#include "src/run/event_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/run/failure.h"
#include "src/util/clock.h"

#define NAMES_TIMEOUT_NS UINT64_C(60000000000) /* the longest wait for function names */

int event_option_start(struct event_drain **out, const struct options *o, struct session *s)
{
	const struct event_drain_options d = { .segment = session_path(s),
		.file = o->record_events,
		.lossless = o->lossless,
		.attached = o->mode == OPTIONS_ATTACH };
	char message[EVENT_DRAIN_MESSAGE_MAX];

	*out = NULL;
	if (!d.file)
		return 0;
	*out = event_drain_start(&d, message);
	return *out ? 0 : failure_print(message);
}

void event_option_tick(struct event_drain *d, struct snapshot *now)
{
	struct event_drain_state state;

	if (!d || !now)
		return;
	event_drain_state(d, &state);
	now->totals.lost_events = state.lost;
}

void event_option_fill(struct event_drain *d, struct timeline *t)
{
	struct event_drain_state state;
	uint64_t spent_ns;

	event_drain_state(d, &state);
	spent_ns = clock_monotonic_ns() - state.since_ns;
	t->file = state.file;
	t->file_bytes = state.file_bytes;
	t->file_bytes_per_s = spent_ns ? (double)state.file_bytes * 1e9 / (double)spent_ns : 0;
	t->file_limit_bytes = 0;
	if (state.error)
		t->trouble = strerror(-state.error);
}

void event_option_trouble(struct event_drain *d, char *line, size_t bytes)
{
	struct event_drain_state state = { 0 };

	if (d)
		event_drain_state(d, &state);
	if (state.error)
		snprintf(line, bytes, "the recording of events %.160s is incomplete: %s",
			state.file, strerror(-state.error));
}

void event_option_removing(void *ctx, const char *path)
{
	struct event_drain **d = ctx;

	if (*d)
		event_drain_take(*d, path);
}

static void losses_print(const struct event_drain_state *s)
{
	if (s->lost > 0)
		fprintf(stderr,
			"heaptop: %" PRIu64 " of %" PRIu64
			" events were lost: the program was faster than the recorder, or had "
			"not noticed it yet (--lossless makes the program wait)\n",
			s->lost, s->lost + s->events);
	if (s->unopened > 0)
		fprintf(stderr,
			"heaptop: the events of %" PRIu32
			" processes are missing: there was no memory, or no file descriptor left "
			"(ulimit -n), to read them\n",
			s->unopened);
	if (s->unread > 0)
		fprintf(stderr,
			"heaptop: the events of %" PRIu32
			" process%s end early: the segment could not be read to its end\n",
			s->unread, s->unread == 1 ? "" : "es");
}

void event_option_end(struct event_drain **d, struct process_tree *w)
{
	struct event_drain_state state;
	struct snapshot *last;
	int rc;

	if (!*d)
		return;
	process_tree_poll_last(w);
	last = process_tree_final(w, NAMES_TIMEOUT_NS, false);
	rc = event_drain_end(*d, last, &state);
	*d = NULL;
	snapshot_unref(last);
	if (rc != 0)
		failure_print_errno("cannot record all events", rc);
	else
		losses_print(&state);
}
