/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of a launch (launch_report.h). Main thread. */
#include "src/run/launch_report.h"

#include <stdlib.h>

#include "src/util/clock.h"

/* False: there is nothing to list. */
static bool rows_make(struct launch_report *r, const struct process_tree *w)
{
	const struct launch_process *const *all;
	size_t count = launch_processes_all(process_tree_launch(w), &all);

	if (count < 2)
		return false;
	r->row = calloc(count, sizeof(*r->row));
	if (!r->row)
		return false;
	for (size_t i = 0; i < count; i++)
		launch_processes_row(all[i], &r->row[i]);
	processes_arrange(r->row, count, session_identity(process_tree_session(w))->pid);
	r->out = (struct export_launch){ .rows = r->row,
		.count = count,
		.all = launch_processes_sum(process_tree_launch(w), 0) };
	return true;
}

/* Snapshots are only referred to. */
static struct snapshot *plain(const struct snapshot *s)
{
	return (struct snapshot *)(uintptr_t)s;
}

static bool all_add(struct merged *m, const struct snapshot *s)
{
	bool done = merged_add(m, plain(s), false) == 0;

	for (size_t i = 0; done && i < s->nchildren; i++)
		done = all_add(m, s->children[i]);
	return done;
}

static void sum_make(struct launch_report *r, const struct snapshot *s, const struct options *o)
{
	r->merged = s->nchildren ? merged_new() : NULL;
	if (!r->merged)
		return;
	merged_begin(r->merged);
	if (all_add(r->merged, s))
		r->sum = merged_end(r->merged, s, clock_monotonic_ns());
	if (!r->sum)
		return;
	/* What they left at their ends was not live at once. */
	r->sum->totals.peak_live_bytes = r->out.all.peak_bytes;
	r->sum->totals.no_peak_time = true;
	selection_make(&r->selection, r->sum, o);
	r->out.sum = r->selection.sites;
	r->out.sum_rows = r->selection.rows;
}

const struct export_launch *launch_report_make(struct launch_report *r,
	const struct process_tree *w, const struct snapshot *s, const struct options *o)
{
	*r = (struct launch_report){ 0 };
	if (!rows_make(r, w))
		return NULL;
	sum_make(r, s, o);
	return &r->out;
}

void launch_report_free(struct launch_report *r)
{
	if (r->sum)
		selection_free(&r->selection);
	snapshot_unref(r->sum);
	merged_close(r->merged);
	free(r->row);
}
