/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans for reports and frames (leak_request.h). */
#include "src/run/leak_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/scan/leak_summary.h"
#include "src/run/leak_children.h"
#include "src/run/leak_scans.h"
#include "src/run/map_target.h"
#include "src/run/output_file.h"
#include "src/run/program_asks.h"
#include "src/scan/scan_job.h"
#include "src/util/clock.h"

/* The longest wait of a scan's text for function names. A program at its end waits meanwhile. */
#define NAMES_NS UINT64_C(3000000000)
/* Rounds that are kept. When they are full, every second one is dropped, so that the rest spans the
 * whole time. */
#define ROUNDS_MAX 4096u
#define NONE_YET   "no leak scan: none has ended yet"

struct rounds {
	int fd; /* for text; -1: writing failed */
	unsigned version; /* of the last result that was judged (src/model/leaks.h) */
	const struct session *ended; /* the image that was scanned at its end */
	char *failed; /* the last failure that was printed */
	/* The last scan's result, which snapshots point to. */
	struct snap_leaks shown;
	struct snap_leak_round round[ROUNDS_MAX];
};

struct leak_request {
	struct run *run;
	struct leak_progress *progress;
	struct resident *resident;
	struct leak_children *children;
	/* One scan. */
	const struct session *exit_seen; /* this image waited at its end */
	struct scan_job *exit_job; /* its scan, while the program ends; or NULL */
	struct leak_summary *result; /* what was found, or why there was no scan */
	/* Many scans; NULL: one. */
	struct rounds *rounds;
	struct scan_control *scans; /* made at first use */
};

static struct leak_scan_options request_make(const struct leak_request *q, const struct session *s)
{
	struct leak_scan_options request = leak_scans_options(q->run, s);

	request.progress = q->progress;
	return request;
}

/* Reads resident memory now: the program stands still, and there is no better moment. */
static void resident_read(struct leak_request *q)
{
	const struct map_reader_of of = map_target_of(q->run, run_session(q->run));

	q->resident->due_ns = 0;
	resident_update(q->resident, &of);
}

/* Scans a running process in this thread. */
static struct leak_summary *scan_now(struct leak_request *q, struct session *s)
{
	struct leak_scan_options request = request_make(q, s);

	resident_read(q);
	return leak_summary_run(session_segment(s), &request);
}

/* ---- one ---- */

/* The program waits at its end: lets it go on, and scans it at its last instant. */
static void exit_scan_begin(struct leak_request *q, struct session *s)
{
	struct leak_scan_options request = request_make(q, s);

	resident_read(q);
	request.at_exit = true;
	request.copying = LEAK_COPY_NEVER; /* stopping it costs nothing at its end */
	q->exit_job = scan_job_start(session_path(s), &request, false);
	if (q->exit_job)
		return;
	q->result =
		leak_summary_failed(errno == ENOMEM ? "no leak scan: out of memory"
						    : "no leak scan: no thread could be started");
	run_exit_release(q->run);
}

/* An image that called exec at its end is gone, and its scan with it. */
static void exit_scan_drop(struct leak_request *q)
{
	if (q->exit_job)
		scan_job_cancel(q->exit_job);
	scan_job_free(q->exit_job);
	q->exit_job = NULL;
	leak_summary_free(q->result);
	q->result = NULL;
}

static void once_check(struct leak_request *q, struct session *s, bool waits)
{
	if (waits && q->exit_seen != s) {
		exit_scan_drop(q);
		q->exit_seen = s;
		exit_scan_begin(q, s);
	} else if (!run_scans_at_exit(q->run) && !q->result) {
		q->result = scan_now(q, s);
	}
	if (q->exit_job && scan_job_ended(q->exit_job)) {
		q->result = scan_job_take(q->exit_job);
		scan_job_free(q->exit_job);
		q->exit_job = NULL;
	}
}

void leak_request_cancel(struct leak_request *q)
{
	if (q->exit_job)
		scan_job_cancel(q->exit_job);
	if (q->scans)
		scan_control_cancel(q->scans);
	leak_children_cancel(q->children);
}

/* ---- many ---- */

static struct scan_control *control_of(struct leak_request *q)
{
	return q->scans = leak_scans_control(q->scans, q->run, run_session(q->run));
}

/* Prepares for many scans. Without memory there is one. */
static void rounds_begin(struct leak_request *q, int fd)
{
	const struct options *o = run_options(q->run);
	struct scan_control *scans;

	if (o->leak_every_ns)
		q->rounds = calloc(1, sizeof(*q->rounds));
	if (!q->rounds)
		return;
	q->rounds->fd = o->format == OPTIONS_TEXT ? fd : STDERR_FILENO;
	q->rounds->shown.failed = NONE_YET;
	scans = control_of(q);
	if (scans)
		scan_control_every(scans, o->leak_every_ns);
}

static void round_print(struct leak_request *q, const struct snapshot *s, bool of_other)
{
	const struct options *o = run_options(q->run);
	const struct export_options e = {
		.top = o->top, .names = o->names, .show_hidden = o->show_hidden
	};
	struct strbuf text = STRBUF_INIT;

	export_leak_round(&text, s, &e, of_other);
	if (q->rounds->fd < 0)
		strbuf_free(&text);
	else if (output_file_put(q->rounds->fd, &text, o) != 0)
		q->rounds->fd = -1;
}

/* A snapshot with all names that arrive in time. */
static struct snapshot *named_snapshot(struct session *s)
{
	snapshot_unref(session_tick(s));
	session_names_finish(s, NAMES_NS);
	return session_tick(s);
}

/* Stores the last scan's result, and keeps the rounds. */
static void shown_set(struct rounds *l, const struct snap_leaks *result)
{
	size_t n = l->shown.nrounds;

	l->shown = *result;
	l->shown.rounds = l->round;
	l->shown.nrounds = n;
}

static void round_add(struct rounds *l, unsigned number)
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

/* Applies suppressions to the newest result and prints it. */
static void round_judge(struct leak_request *q, struct session *session, struct scan_control *scans)
{
	struct rounds *l = q->rounds;
	struct snapshot *s;

	session_leaks(session, &l->shown);
	s = named_snapshot(session);
	if (s && run_suppressions(q->run))
		scan_control_suppress(scans, s, run_suppressions(q->run));
	shown_set(l, scan_control_state(scans)->last);
	round_add(l, scan_control_state(scans)->number);
	if (s)
		round_print(q, s, false);
	snapshot_unref(s);
	if (!run_options(q->run)->batch)
		session_leaks(session, NULL); /* a report shows the last scan only */
	l->version = scan_control_state(scans)->version;
	free(l->failed);
	l->failed = NULL;
}

/* Prints a failure once, however often it repeats. */
static void failure_print(struct leak_request *q, const char *why)
{
	struct rounds *l = q->rounds;
	struct snap_leaks failed = { .failed = why };
	struct snapshot none = { .leaks = &failed };

	if (l->failed && strcmp(l->failed, why) == 0)
		return;
	free(l->failed);
	l->failed = strdup(why);
	none.now_realtime_ns = clock_realtime_ns();
	round_print(q, &none, false);
	if (l->shown.failed)
		l->shown.failed = l->failed ? l->failed : NONE_YET;
}

/* Scans one of the program's children, if it is due. */
static void children_check(struct leak_request *q)
{
	struct session *session = leak_children_due(q->children);
	struct snapshot *s = session ? named_snapshot(session) : NULL;

	if (!s)
		return;
	leak_children_judge(q->children, session, s);
	round_print(q, s, true);
	snapshot_unref(s);
}

/* Another image: the results of the one before do not apply to it. */
static void rounds_reset(struct rounds *l, unsigned version)
{
	l->shown = (struct snap_leaks){ .failed = NONE_YET };
	l->version = version;
}

static void rounds_check(struct leak_request *q, struct session *s, bool waits)
{
	struct rounds *l = q->rounds;
	struct scan_control *scans = control_of(q);
	const struct leaks *state;

	if (!scans)
		return;
	scan_control_collect(scans);
	if (waits && l->ended != s) {
		l->ended = s;
		if (scan_control_start_at_exit(scans, false) != 0)
			run_exit_release(q->run);
	} else if (l->ended != s && session_alive(s)) {
		scan_control_poll(scans);
		if (program_asks_scan(s))
			scan_control_ask(scans);
	}
	state = scan_control_state(scans);
	if (state->number == 0 && state->version != l->version)
		rounds_reset(l, state->version);
	if (run_options(q->run)->batch)
		session_leaks(s, &l->shown);
	if (state->failed)
		failure_print(q, state->failed);
	else if (state->last && state->version != l->version)
		round_judge(q, s, scans);
	children_check(q);
}

/* Scans take their time, and children may have come meanwhile. */
static void poll_last(struct leak_request *q)
{
	run_poll_last(q->run);
	leak_children_left(q->children);
}

static struct snapshot *rounds_final(struct leak_request *q)
{
	struct scan_control *scans = control_of(q);
	struct snapshot *s;

	if (scans && q->rounds->ended == run_session(q->run))
		scan_control_await(scans);
	leak_request_make(q);
	if (scans) /* results that come while the children end are not printed */
		scan_control_stop(scans);
	poll_last(q);
	session_leaks(run_session(q->run), &q->rounds->shown);
	s = run_final(q->run);
	if (scans && s && run_suppressions(q->run) && scan_control_state(scans)->last) {
		scan_control_suppress(scans, s, run_suppressions(q->run));
		shown_set(q->rounds, scan_control_state(scans)->last);
	}
	return s;
}

/* ---- one or many ---- */

void leak_request_make(struct leak_request *q)
{
	struct session *s;
	bool waits;

	process_tree_poll(run_watch(q->run));
	leak_children_scan(q->children);
	s = run_session(q->run);
	waits = run_exit_is_waiting(q->run);
	if (q->rounds)
		rounds_check(q, s, waits);
	else
		once_check(q, s, waits);
}

/* The last snapshot of the watched process, or of its last image. */
static struct snapshot *own_final(struct leak_request *q)
{
	struct snapshot *s;

	if (q->rounds)
		return rounds_final(q);
	if (q->exit_job) {
		q->result = scan_job_take(q->exit_job);
		scan_job_free(q->exit_job);
		q->exit_job = NULL;
	}
	poll_last(q);
	/* The result belongs to the last image, which was scanned. */
	if (!q->result)
		q->result = leak_summary_failed("no leak scan: the program did not end by exit, or "
						"ran without the library");
	if (q->result)
		session_leaks(run_session(q->run), leak_summary_result(q->result));
	s = run_final(q->run);
	if (s && q->result && run_suppressions(q->run))
		leak_summary_suppress(q->result, s, run_suppressions(q->run));
	return s;
}

struct snapshot *leak_request_final(struct leak_request *q)
{
	struct snapshot *s;

	run_poll_last(q->run);
	if (!run_options(q->run)->leak_check)
		return run_final(q->run);
	leak_children_finish(q->children);
	s = own_final(q);
	if (s && run_suppressions(q->run))
		leak_children_suppress(q->children, s);
	return s;
}

struct leak_request *leak_request_new(
	struct run *r, int fd, struct leak_progress *progress, struct resident *resident)
{
	struct leak_request *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	*q = (struct leak_request){ .run = r, .progress = progress, .resident = resident };
	q->children = leak_children_new(r, progress);
	if (!q->children) {
		free(q);
		return NULL;
	}
	rounds_begin(q, fd);
	return q;
}

void leak_request_free(struct leak_request *q)
{
	if (!q)
		return;
	scan_control_free(q->scans); /* lets the program go on */
	leak_children_free(q->children);
	if (q->exit_job)
		scan_job_cancel(q->exit_job);
	scan_job_free(q->exit_job);
	leak_summary_free(q->result);
	if (q->rounds)
		free(q->rounds->failed);
	free(q->rounds);
	free(q);
}

int leak_request_fds(const struct leak_request *q, struct pollfd *fds, int max)
{
	return q->scans ? scan_control_fds(q->scans, fds, max) : 0;
}
