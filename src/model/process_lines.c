/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the process list as lines (processes.h): siblings in the order that the user chose,
 * without what is folded away. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "src/model/processes.h"

struct lines {
	const struct process_row *row;
	size_t count;
	const struct process_lines_request *request;
	struct process_line *out;
	size_t placed;
	/* Siblings while they are sorted; those of deeper levels follow. A row is in it once. */
	uint32_t *siblings;
	size_t used;
	double *figure; /* by row: what orders it */
};

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

/* The figure that orders a row; -1: it has none. */
static double own_figure(const struct process_row *r, enum process_column by)
{
	switch (by) {
	case PROCESS_BY_LIVE:
	case PROCESS_BY_SUM:
		return r->has_live && !r->ended ? (double)r->live_bytes : -1;
	case PROCESS_BY_PEAK:
		return r->has_peak ? (double)r->peak_bytes : -1;
	case PROCESS_BY_RATE:
		return r->has_rate && !r->ended ? r->rate_bytes_per_s : 0;
	case PROCESS_BY_RSS:
		return r->has_rss && !r->ended ? (double)r->rss_bytes : -1;
	case PROCESS_BY_PID:
		return (double)r->pid;
	case PROCESS_BY_STATE:
	case PROCESS_BY_COMMAND:
		break;
	}
	return 0;
}

/* The figure of a process and one below it. Peaks belong to different times, so they do not add up.
 */
static double both_figures(double a, double b, enum process_column by)
{
	if (by == PROCESS_BY_PEAK || ((a < 0 || b < 0) && by != PROCESS_BY_RATE))
		return a > b ? a : b;
	return a + b;
}

/* The first row after `i` that is not below it. */
static size_t row_after(const struct lines *l, size_t i)
{
	size_t next = i + 1;

	while (next < l->count && l->row[next].level > l->row[i].level)
		next++;
	return next;
}

/* A process that does little may have children that hold much, as a shell and its compiler: each
 * row's figure is that of its whole subtree. */
static void figures_make(struct lines *l)
{
	enum process_column by = l->request->by;

	for (size_t i = l->count; i-- > 0;) {
		l->figure[i] = own_figure(&l->row[i], by);
		if (by == PROCESS_BY_PID)
			continue;
		for (size_t k = i + 1, end = row_after(l, i); k < end; k = row_after(l, k))
			l->figure[i] = both_figures(l->figure[i], l->figure[k], by);
	}
}

/* Rows come in the order of pids, so equal ones keep that. */
static int line_order(const void *left, const void *right, void *ctx)
{
	const struct lines *l = ctx;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int by = down(l->figure[a], l->figure[b]);

	if (l->request->by == PROCESS_BY_STATE)
		by = strcmp(l->row[a].state, l->row[b].state);
	if (l->request->by == PROCESS_BY_COMMAND)
		by = strcmp(l->row[a].command, l->row[b].command);
	if (l->request->reverse)
		by = -by;
	return by ? by : (a > b) - (a < b);
}

static bool is_folded(const struct lines *l, const struct process_row *row)
{
	for (size_t i = 0; i < l->request->nfolded; i++)
		if (l->request->folded[i] == row->id)
			return true;
	return false;
}

static bool is_left_out(const struct lines *l, size_t i)
{
	if (!l->request->no_ended || !l->row[i].ended || l->row[i].shown)
		return false;
	for (size_t k = i + 1, end = row_after(l, i); k < end; k++)
		if (!l->row[k].ended)
			return false;
	return true;
}

static void rows_put(struct lines *l, size_t from, size_t to, uint64_t guides);

static void row_put(struct lines *l, size_t i, uint64_t guides, bool last)
{
	size_t end = row_after(l, i);
	unsigned level = l->row[i].level;
	bool folded = is_folded(l, &l->row[i]);

	l->out[l->placed++] = (struct process_line){ .row = (uint32_t)i,
		.hidden = folded ? (uint32_t)(end - i - 1) : 0,
		.last = last,
		.guides = guides };
	if (!folded)
		rows_put(
			l, i + 1, end, last || level == 0 ? guides : guides | UINT64_C(1) << level);
}

/* The rows of one level in [from, to), and what is below them. */
static void rows_put(struct lines *l, size_t from, size_t to, uint64_t guides)
{
	uint32_t *child = l->siblings + l->used;
	size_t n = 0;

	for (size_t i = from; i < to; i = row_after(l, i))
		if (!is_left_out(l, i))
			child[n++] = (uint32_t)i;
	l->used += n;
	qsort_r(child, n, sizeof(*child), line_order, l);
	for (size_t k = 0; k < n; k++)
		row_put(l, child[k], guides, k + 1 == n);
}

/* Processes that no heading hides. */
static size_t group_put(struct lines *l, size_t from)
{
	size_t to = from, first = from;

	while (to < l->count && l->row[to].group == l->row[from].group)
		to++;
	if (l->row[from].kind != PROCESS_ONE) {
		bool folded = is_folded(l, &l->row[from]);

		l->out[l->placed++] = (struct process_line){ .row = (uint32_t)from,
			.hidden = folded ? (uint32_t)(to - from - 1) : 0,
			.last = true };
		first = folded ? to : from + 1;
	}
	rows_put(l, first, to, 0);
	return to;
}

size_t processes_lines(const struct process_row *rows, size_t count,
	const struct process_lines_request *r, struct process_line *out)
{
	struct lines l = { .row = rows, .request = r, .out = out };

	l.count = count < PROCESSES_MAX ? count : PROCESSES_MAX;
	l.siblings = malloc((l.count + 1) * sizeof(*l.siblings));
	l.figure = malloc((l.count + 1) * sizeof(*l.figure));
	if (l.siblings && l.figure) {
		figures_make(&l);
		for (size_t i = 0; i < l.count;)
			i = group_put(&l, i);
	}
	free(l.siblings);
	free(l.figure);
	return l.placed;
}
