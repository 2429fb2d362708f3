/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans for reports and frames (leak_request_make.h). */
#include "src/run/leak_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/scan/leak_summary.h"
#include "src/run/leak_children.h"
#include "src/run/output_file.h"
#include "src/scan/scan_job.h"
#include "src/scan/scan_control.h"
#include "src/run/screen_leaks.h"
#include "src/util/clock.h"

/* A scan's text waits so long for names at most: meanwhile, a program that wants to end waits. */
#define NAMES_NS UINT64_C(3000000000)
/* Rounds that are kept. Of more, each second one goes, so that those left are of all the time. */
#define ROUNDS_MAX 4096u
#define NONE_YET   "no leak scan: none was made so far"

struct leakrounds {
	int fd; /* for text; -1: it cannot be written any more */
	unsigned version; /* of the last result that was taken (src/model/leaks.h) */
	const struct session *ended; /* was scanned at its end */
	char *failed; /* the last failure that was told */
	/* For snapshots: it stays here, and is of the last scan. */
	struct snap_leaks shown;
	struct snap_leak_round round[ROUNDS_MAX];
};

/* One scan of a running process, in this thread. */
static struct leak_summary *scan_now(struct run *r, struct session *s)
{
	struct leak_scan_options request = run_scan_options(r, session_pid(s));

	r->resident.due_ns = 0; /* it stands still: there is no better moment */
	run_memory_look(r);
	return leak_summary_run(session_segment(s), &request);
}

/* ---- one ---- */

/* The program waits at its end: it is let go on, and scanned at its last instant. */
static void exit_scan_begin(struct run *r, struct session *s)
{
	struct leak_scan_options request = run_scan_options(r, session_pid(s));

	r->resident.due_ns = 0;
	run_memory_look(r);
	request.at_exit = true;
	request.copying = LEAK_COPY_NEVER; /* nothing is lost while it stands still */
	r->exit_scan = scan_job_start(session_path(s), &request, false);
	if (r->exit_scan)
		return;
	r->leaks = leak_summary_failed(errno == ENOMEM ? "no leak scan: out of memory"
						       : "no leak scan: no thread to scan with");
	read_leak_done(session_segment(s));
}

/* An image that went on by exec at its end is over, and its scan with it. */
static void exit_scan_drop(struct run *r)
{
	if (r->exit_scan)
		scan_job_cancel(r->exit_scan);
	scan_job_free(r->exit_scan);
	r->exit_scan = NULL;
	leak_summary_free(r->leaks);
	r->leaks = NULL;
}

static void one_look(struct run *r, struct session *s, bool waits)
{
	if (waits && r->exit_seen != s) {
		exit_scan_drop(r);
		r->exit_seen = s;
		exit_scan_begin(r, s);
	} else if (!r->child.pid && !r->leaks) {
		r->leaks = scan_now(r, s);
	}
	if (r->exit_scan && scan_job_ended(r->exit_scan)) {
		r->leaks = scan_job_take(r->exit_scan);
		scan_job_free(r->exit_scan);
		r->exit_scan = NULL;
	}
}

void leak_request_cancel(struct run *r)
{
	if (r->exit_scan)
		scan_job_cancel(r->exit_scan);
	if (r->scans)
		scan_control_cancel(r->scans);
	leak_children_cancel(r);
}

/* ---- many ---- */

void leak_request_begin(struct run *r, int fd)
{
	const struct options *o = r->options;

	if (!o->leak_every_ns)
		return;
	r->leakrounds = calloc(1, sizeof(*r->leakrounds));
	if (!r->leakrounds)
		return; /* it is scanned once, then */
	r->leakrounds->fd = o->format == OPTIONS_TEXT ? fd : STDERR_FILENO;
	r->leakrounds->shown.failed = NONE_YET;
	screen_leaks_every(r, o->leak_every_ns);
}

static void tell(struct run *r, const struct snapshot *s, bool of_other)
{
	const struct options *o = r->options;
	const struct export_options e = {
		.top = o->top, .names = o->names, .show_hidden = o->show_hidden
	};
	struct strbuf text = STRBUF_INIT;

	export_leak_round(&text, s, &e, of_other);
	if (r->leakrounds->fd < 0)
		strbuf_free(&text);
	else if (output_file_put(r->leakrounds->fd, &text, o) != 0)
		r->leakrounds->fd = -1;
}

/* A snapshot with all names that can be had. */
static struct snapshot *named(struct session *s)
{
	snapshot_unref(session_tick(s));
	session_names_finish(s, NAMES_NS);
	return session_tick(s);
}

/* The result as it is now, beside the rounds that there were. */
static void shown_set(struct leakrounds *l, const struct snap_leaks *result)
{
	size_t n = l->shown.nrounds;

	l->shown = *result;
	l->shown.rounds = l->round;
	l->shown.nrounds = n;
}

static void round_add(struct leakrounds *l, unsigned number)
{
	size_t n = l->shown.nrounds;

	if (n == ROUNDS_MAX) {
		for (n = 0; n < ROUNDS_MAX / 2; n++)
			l->round[n] = l->round[2 * n + 1];
	}
	l->round[n] = (struct snap_leak_round){
		.number = number, .ns = l->shown.at_ns, .stop_ns = l->shown.stop_ns
	};
	memcpy(l->round[n].sum, l->shown.sum, sizeof(l->shown.sum));
	l->shown.nrounds = n + 1;
}

/* Judges the newest result and tells of it. */
static void round_take(struct run *r, struct session *session, struct scan_control *scans)
{
	struct leakrounds *l = r->leakrounds;
	struct snapshot *s;

	session_leaks(session, &l->shown);
	s = named(session);
	if (s && r->suppressions)
		scan_control_suppress(scans, s, r->suppressions);
	shown_set(l, scan_control_state(scans)->last);
	round_add(l, scan_control_state(scans)->number);
	if (s)
		tell(r, s, false);
	snapshot_unref(s);
	if (!r->options->batch)
		session_leaks(session, NULL); /* a report has the last one's only */
	l->version = scan_control_state(scans)->version;
	free(l->failed);
	l->failed = NULL;
}

/* It is told once, however often it happens. */
static void failure_take(struct run *r, const char *why)
{
	struct leakrounds *l = r->leakrounds;
	struct snap_leaks failed = { .failed = why };
	struct snapshot none = { .leaks = &failed };

	if (l->failed && strcmp(l->failed, why) == 0)
		return;
	free(l->failed);
	l->failed = strdup(why);
	none.now_realtime_ns = clock_realtime_ns();
	tell(r, &none, false);
	if (l->shown.failed)
		l->shown.failed = l->failed ? l->failed : NONE_YET;
}

/* Those that it has started. */
static void others_look(struct run *r)
{
	struct session *session = leak_children_due(r);
	struct snapshot *s = session ? named(session) : NULL;

	if (!s)
		return;
	leak_children_judge(r, session, s);
	tell(r, s, true);
	snapshot_unref(s);
}

/* Another image: what was found in the one before says nothing of it. */
static void rounds_reset(struct leakrounds *l, unsigned version)
{
	l->shown = (struct snap_leaks){ .failed = NONE_YET };
	l->version = version;
}

static void rounds_look(struct run *r, struct session *s, bool waits)
{
	struct leakrounds *l = r->leakrounds;
	struct scan_control *scans = screen_leaks_control(r);
	const struct leaks *state;

	if (!scans)
		return;
	scan_control_collect(scans);
	if (waits && l->ended != s) {
		l->ended = s;
		if (scan_control_start_at_exit(scans, false) != 0)
			read_leak_done(session_segment(s));
	} else if (l->ended != s && session_alive(s)) {
		scan_control_poll(scans);
	}
	state = scan_control_state(scans);
	if (state->number == 0 && state->version != l->version)
		rounds_reset(l, state->version);
	if (r->options->batch)
		session_leaks(s, &l->shown);
	if (state->failed)
		failure_take(r, state->failed);
	else if (state->last && state->version != l->version)
		round_take(r, s, scans);
	others_look(r);
}

static struct snapshot *rounds_final(struct run *r)
{
	struct scan_control *scans = screen_leaks_control(r);
	struct snapshot *s;

	if (scans && r->leakrounds->ended == watch_session(r->watch))
		scan_control_await(scans);
	leak_request_make(r);
	if (scans) /* at the end of the others, nothing is told of it any more */
		scan_control_stop(scans);
	session_leaks(watch_session(r->watch), &r->leakrounds->shown);
	s = run_final(r);
	if (scans && s && r->suppressions && scan_control_state(scans)->last) {
		scan_control_suppress(scans, s, r->suppressions);
		shown_set(r->leakrounds, scan_control_state(scans)->last);
	}
	return s;
}

/* ---- one or many ---- */

void leak_request_make(struct run *r)
{
	struct session *s;
	bool waits;

	watch_poll(r->watch);
	leak_children_scan(r);
	s = watch_session(r->watch);
	waits = r->child.pid && read_leak_waits(session_segment(s));
	if (r->leakrounds)
		rounds_look(r, s, waits);
	else
		one_look(r, s, waits);
}

/* Of the one process, or its last image. */
static struct snapshot *own_final(struct run *r)
{
	struct snapshot *s;

	if (r->leakrounds)
		return rounds_final(r);
	if (r->exit_scan) {
		r->leaks = scan_job_take(r->exit_scan);
		scan_job_free(r->exit_scan);
		r->exit_scan = NULL;
	}
	/* The result is of the image that was scanned: the last. */
	if (!r->leaks)
		r->leaks = leak_summary_failed("no leak scan: the program did not end by exit, or "
					       "without the library");
	if (r->leaks)
		session_leaks(watch_session(r->watch), leak_summary_result(r->leaks));
	s = run_final(r);
	if (s && r->leaks && r->suppressions)
		leak_summary_suppress(r->leaks, s, r->suppressions);
	return s;
}

struct snapshot *leak_request_final(struct run *r)
{
	struct snapshot *s;

	if (!r->options->leak_check)
		return run_final(r);
	watch_poll(r->watch);
	leak_children_finish(r);
	s = own_final(r);
	if (s && r->suppressions)
		leak_children_suppress(r, s);
	return s;
}

void leak_request_free(struct run *r)
{
	leak_children_free(r);
	if (r->exit_scan)
		scan_job_cancel(r->exit_scan);
	scan_job_free(r->exit_scan);
	r->exit_scan = NULL;
	if (r->leakrounds)
		free(r->leakrounds->failed);
	free(r->leakrounds);
	r->leakrounds = NULL;
}
