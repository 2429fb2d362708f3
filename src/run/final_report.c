/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --report (final_report.h). */
#include "src/run/final_report.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "src/run/at_time.h"
#include "src/run/failure.h"
#include "src/run/launch_report.h"
#include "src/run/report.h"
#include "src/run/signals.h"
#include "src/run/headless.h"
#include "src/run/verdict.h"

/* An attached program may never end. Names a signal only if our parent did not have us ignore it.
 */
static void say_what_ends_the_wait(const struct options *o)
{
	fprintf(stderr,
		"heaptop: process %d is still running; the report is written when it ends. To get "
		"one now: %s %d, or heaptop -b -n 1 --format text -a %d\n",
		(int)o->pid, signals_interrupt_ignored() ? "kill" : "Ctrl-C, kill -INT",
		(int)getpid(), (int)o->pid);
}

/* Until the program has ended, a signal came or -n is up. -r shows what there is. */
static void end_await(struct headless *t)
{
	const struct options *o = t->options;
	bool go_on = o->mode != OPTIONS_READ;
	unsigned frame = 0;

	/* One scan of an attached program is all that is asked for. */
	if (o->leak_check && !o->leak_every_ns && !run_scans_at_exit(t->run)) {
		leak_request_make(t->leaks);
		go_on = false;
	}
	if (go_on && o->mode == OPTIONS_ATTACH && o->frames == 0 && run_alive(t->run))
		say_what_ends_the_wait(o);
	while (go_on && run_alive(t->run)) {
		snapshot_unref(run_tick(t->run));
		if (++frame == o->frames)
			break;
		go_on = headless_wait(t, headless_next_ns(t));
	}
}

/* The program at the moment of --at, without its children: their histories are not kept. */
static int moment_put(struct headless *t, struct snapshot *last)
{
	struct histories *histories = run_past(t->run)->histories;
	char message[AT_TIME_MESSAGE_MAX], what[160];
	struct snapshot *s;
	struct moment m;
	int rc;

	if (at_time_find(t->options->at, last, histories_timeline(histories, last), &m, message)) {
		snprintf(what, sizeof(what), "--at %.120s", t->options->at);
		return failure_print_reason(what, message);
	}
	s = histories_moment(histories, last, &m);
	if (!s)
		return failure_print_errno("cannot show the moment of --at", errno);
	if (s != last)
		s->nchildren = 0;
	rc = report_put(t->fd, s, t->options,
		&(struct report_parts){ .memory = s == last ? headless_memory(t) : NULL,
			.timeline = histories_timeline(histories, last),
			.runs = !run_ended(t->run) });
	snapshot_unref(s);
	return rc;
}

static int last_put(struct headless *t, struct snapshot *s)
{
	const struct options *o = t->options;
	bool ended = run_ended(t->run), on_stderr = t->fd == STDERR_FILENO;
	static struct launch_report launch;
	int rc;
	struct report_parts parts = { .memory = headless_memory(t),
		.timeline = histories_timeline(run_past(t->run)->histories, s),
		.runs = !ended };
	char verdict[VERDICT_MAX];

	if (!s)
		return failure_print_errno("cannot read the segment", errno);
	if (o->at)
		return moment_put(t, s);
	/* On stderr headless_close says the same in the next line. */
	if (!on_stderr || o->format != OPTIONS_TEXT || !verdict_failed(s, o, ended))
		parts.verdict = verdict_text(s, o, ended, verdict);
	parts.launch = launch_report_make(&launch, run_watch(t->run), s, o);
	rc = report_put(t->fd, s, o, &parts);
	launch_report_free(&launch);
	return rc;
}

int final_report_run(const struct options *o)
{
	static struct headless t;
	int rc = headless_open(&t, o, o->mode == OPTIONS_RUN ? STDERR_FILENO : STDOUT_FILENO);
	struct snapshot *s;

	if (rc != 0)
		return rc;
	end_await(&t);
	signals_restore();
	s = leak_request_final(t.leaks);
	return headless_close(&t, s, last_put(&t, s));
}
