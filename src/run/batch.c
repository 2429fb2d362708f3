/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -b (batch.h). */
#include "src/run/batch.h"

#include <errno.h>
#include <unistd.h>

#include "src/run/failure.h"
#include "src/run/launch_report.h"
#include "src/run/launch_sum.h"
#include "src/run/report.h"
#include "src/run/signals.h"
#include "src/run/headless.h"
#include "src/util/clock.h"

/* As a report waits for names, which the last frame of those asked for is, in a format that
 * programs read. Others follow a frame that lacks some. */
#define NAMES_NS UINT64_C(60000000000)

static uint64_t names_ns(const struct options *o, unsigned frame)
{
	return frame == o->frames && o->format_given ? NAMES_NS : o->delay_ns;
}

static int frame_put(struct headless *t, const struct snapshot *s)
{
	static struct launch_report launch;
	int rc;

	if (!s)
		return failure_print_errno("cannot read the segment", errno);
	if (!t->options->format_given)
		return report_frame_put(t->fd, s, t->options);
	if (!s->processes)
		headless_memory_read(t);
	rc = report_put(t->fd, s, t->options,
		&(struct report_parts){ .memory = s->processes ? NULL : headless_memory(t),
			.launch = launch_report_make(&launch, run_watch(t->run), s, t->options),
			.timeline = histories_timeline(run_past(t->run)->histories, s) });
	launch_report_free(&launch);
	return rc;
}

/* The frame's snapshot: of the program, or of all processes as one. Names that have come meanwhile
 * are in it. */
static struct snapshot *frame_take(struct headless *t, struct launch_sum *all, uint64_t ns)
{
	struct snapshot *now = run_tick(t->run), *sum;

	if (!all || !now)
		return now;
	snapshot_unref(launch_sum_tick(all, now));
	launch_sum_names_finish(all, ns);
	sum = launch_sum_tick(all, now);
	snapshot_unref(now);
	return sum;
}

int batch_run(const struct options *o)
{
	struct launch_sum *all = NULL;
	static struct headless t;
	struct snapshot *s = NULL;
	int rc = headless_open(&t, o, STDOUT_FILENO);

	if (rc != 0)
		return rc;
	if (o->all_processes)
		all = launch_sum_new(run_watch(t.run));
	/* Give a launched program a moment to allocate. If it ends meanwhile, its last state is
	 * the frame. */
	if (o->mode == OPTIONS_RUN)
		headless_wait(&t, clock_monotonic_ns() + o->delay_ns);
	for (unsigned frame = 1; rc == 0; frame++) {
		bool last = !run_alive(t.run) || frame == o->frames || signals_pending();

		snapshot_unref(s);
		snapshot_unref(run_tick(t.run));
		session_names_finish(run_session(t.run), names_ns(o, frame));
		s = frame_take(&t, all, names_ns(o, frame));
		rc = frame_put(&t, s);
		if (last || !headless_wait(&t, clock_monotonic_ns() + o->delay_ns))
			break;
	}
	launch_sum_free(all);
	return headless_close(&t, s, rc);
}
