/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run without a screen (headless.h). */
#include "src/run/headless.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "src/export/formats.h"
#include "src/run/failure.h"
#include "src/run/map_target.h"
#include "src/run/output_file.h"
#include "src/run/selection.h"
#include "src/run/signals.h"
#include "src/run/verdict.h"
#include "src/session/age_classes.h"
#include "src/session/threads.h"
#include "src/util/clock.h"

#define EXIT_FAIL_ON 1 /* --fail-on found what it looks for */
#define FDS_MAX	     (RUN_FDS_MAX + 2)
/* A program that waits for its leak scan loses half of that on average. */
#define LEAK_POLL_MS 10u
#define FIRST_NS     UINT64_C(100000000) /* between a program's first two refreshes, */
#define FIRST_SHARE  5u /* and then a fifth of its age */

static struct leak_progress progress; /* of scans that we wait for; signals cancel them */

int headless_open(struct headless *t, const struct options *o, int stream)
{
	int rc;

	*t = (struct headless){
		.options = o, .began_ns = clock_monotonic_ns(), .fd = output_file_open(o, stream)
	};
	if (t->fd < 0)
		return FAILURE_EXIT;
	if (export_formats[o->format].binary && isatty(t->fd)) {
		failure_print_reason("--format", "this format is not for a terminal (use -o FILE)");
		return OPTIONS_EXIT_USAGE;
	}
	rc = run_open(&t->run, o, NULL);
	if (rc != 0)
		return rc;
	if (o->mode == OPTIONS_RUN)
		resident_start(&t->resident, run_started_ns(t->run));
	signals_catch(run_child(t->run) != 0, &progress.cancelled);
	t->leaks = leak_request_new(t->run, t->fd, &progress, &t->resident);
	if (!t->leaks) {
		rc = failure_print_errno("cannot prepare leak scans", -ENOMEM);
		run_close(t->run);
		return rc;
	}
	age_classes_want(selection_wants_ages(o));
	threads_want(selection_wants_threads(o));
	return 0;
}

void headless_memory_read(struct headless *t)
{
	const struct map_reader_of of = map_target_of(t->run, run_session(t->run));

	resident_update(&t->resident, &of);
}

/* The program is about to be asked to end, or we are. */
static void memory_read_last(struct headless *t)
{
	const struct map_reader_of of = map_target_of(t->run, run_session(t->run));

	resident_read_last(&t->resident, &of);
}

const struct map_account *headless_memory(const struct headless *t)
{
	return resident_last(&t->resident, session_path(run_session(t->run)));
}

/* The longest wait before something else is due. */
static int wait_ms(const struct headless *t, uint64_t now, uint64_t until_ns)
{
	uint64_t ms;

	if (t->options->report && t->resident.due_ns > now && t->resident.due_ns < until_ns)
		until_ns = t->resident.due_ns;
	ms = (until_ns - now) / 1000000 + 1;
	return (int)(t->options->leak_check && ms > LEAK_POLL_MS ? LEAK_POLL_MS : ms);
}

static void fds_wait(struct headless *t, int ms)
{
	struct pollfd fds[FDS_MAX];
	int n = run_fds(t->run, run_session(t->run), fds, FDS_MAX);

	n += leak_request_fds(t->leaks, fds + n, FDS_MAX - n);
	if (poll(fds, (nfds_t)n, ms) > 0)
		run_ready(t->run, run_session(t->run));
}

/* A signal ends an attached heaptop, and is forwarded to a launched program. False: we are to end.
 */
static bool signal_take(struct headless *t)
{
	if (t->options->report)
		memory_read_last(t);
	if (!run_child(t->run))
		return false;
	leak_request_cancel(t->leaks);
	kill(run_child(t->run), signals_pending());
	signals_clear();
	return true;
}

uint64_t headless_pace_ns(uint64_t since_ns, uint64_t delay_ns)
{
	uint64_t each_ns = since_ns / FIRST_SHARE;

	each_ns = each_ns < FIRST_NS ? FIRST_NS : each_ns;
	return each_ns < delay_ns ? each_ns : delay_ns;
}

uint64_t headless_next_ns(const struct headless *t)
{
	const struct options *o = t->options;
	uint64_t now = clock_monotonic_ns();
	bool is_paced = o->record && o->mode == OPTIONS_RUN && o->frames == 0;

	return now + (is_paced ? headless_pace_ns(now - t->began_ns, o->delay_ns) : o->delay_ns);
}

bool headless_wait(struct headless *t, uint64_t until_ns)
{
	uint64_t now;

	while ((now = clock_monotonic_ns()) < until_ns && run_alive(t->run)) {
		fds_wait(t, wait_ms(t, now, until_ns));
		if (t->options->report)
			headless_memory_read(t);
		if (t->options->leak_check)
			leak_request_make(t->leaks);
		if (signals_pending() && !signal_take(t))
			return false;
	}
	return true;
}

int headless_close(struct headless *t, struct snapshot *s, int rc)
{
	const struct options *o = t->options;
	bool ended = run_ended(t->run), failed = s && verdict_failed(s, o, ended);
	const char *unscanned = s ? verdict_unscanned(s, o) : NULL;
	int blind = unscanned ? failure_print_reason("--leak-check", unscanned) : 0;
	int status;

	/* Not into a document that is for a program to read. */
	if (failed && (t->fd != STDERR_FILENO || o->format == OPTIONS_TEXT))
		verdict_print(s, o, ended);
	snapshot_unref(s);
	if (t->leaks)
		leak_request_cancel(t->leaks);
	run_recording_end(t->run);
	leak_request_free(t->leaks);
	status = run_close(t->run);
	resident_free(&t->resident);
	if (rc == 0 && failed)
		return EXIT_FAIL_ON;
	return rc ? rc : status ? status : blind;
}
