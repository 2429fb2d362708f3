/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --record or --record-events without a screen (record_run.h). Main thread. */
#include "src/run/record_run.h"

#include <stdio.h>
#include <unistd.h>

#include "src/run/failure.h"
#include "src/run/headless.h"
#include "src/run/signals.h"

bool record_run_is_headless(const struct options *o)
{
	pid_t foreground = isatty(STDOUT_FILENO) ? tcgetpgrp(STDOUT_FILENO) : 0;

	if ((!o->record && !o->record_events) || o->batch || o->report || o->script)
		return o->headless;
	return o->headless || foreground == 0 || (foreground > 0 && foreground != getpgrp());
}

static void say_what_ends_the_wait(const struct options *o)
{
	fprintf(stderr,
		"heaptop: recording process %d to %s until it ends; to end the recording: %s %d\n",
		(int)o->pid, o->record ? o->record : o->record_events,
		signals_interrupt_ignored() ? "kill" : "Ctrl-C, kill -INT", (int)getpid());
}

/* A file that cannot be written any more ends a recording, but not the program that we started. */
static bool goes_on(struct headless *t)
{
	return run_alive(t->run) && (run_child(t->run) || !past_notice(run_past(t->run)));
}

int record_run(const struct options *o)
{
	static struct headless t;
	static struct options mine;
	bool go_on = true;
	int rc;

	/* Nobody looks at the past here, and the file has it. */
	mine = *o;
	mine.history_limit = 0;
	mine.unseen = !o->record && o->ignored.nignore + o->ignored.nonly == 0 && !o->leak_check &&
		      !o->faults;
	rc = headless_open(&t, &mine, STDERR_FILENO);

	if (rc != 0)
		return rc;
	if (o->mode == OPTIONS_ATTACH)
		say_what_ends_the_wait(o);
	do {
		snapshot_unref(run_tick(t.run));
		go_on = goes_on(&t) && headless_wait(&t, headless_next_ns(&t));
	} while (go_on && run_alive(t.run));
	signals_restore();
	if (past_notice(run_past(t.run)) && !run_child(t.run))
		rc = FAILURE_EXIT;
	return headless_close(&t, NULL, rc);
}
