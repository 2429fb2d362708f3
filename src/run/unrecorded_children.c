/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes without a segment (unrecorded_children.h), from /proc. Main thread. */
#include "src/run/unrecorded_children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/target/target.h"
#include "src/util/clock.h"

/* A check reads maps or an executable. All checks together may take 1/50 of the time. */
#define CHECK_SHARE 50u
/* Checks without a segment before the library counts as lost: a new image maps its segment only
 * once it is loaded, so one such check means nothing. */
#define WITHOUT_MIN 2u

/* The result of the last check of a process. */
struct finding {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t due_ns; /* of the next check */
	unsigned without; /* checks in a row that found no segment */
	char why[PROCESSES_WHY]; /* empty: there is nothing to report */
	char command[PROCESSES_COMMAND];
	bool visited; /* in this reading */
};

struct unrecorded_children {
	struct finding finding[2 * PROCESSES_MAX];
	size_t count;
	/* Arguments of unrecorded_children_add. */
	struct process_row *row;
	size_t rows, parent; /* `parent`: the row whose children are visited */
	size_t *more;
};

struct unrecorded_children *unrecorded_children_new(void)
{
	return calloc(1, sizeof(struct unrecorded_children));
}

void unrecorded_children_free(struct unrecorded_children *u)
{
	free(u);
}

void unrecorded_children_begin(struct unrecorded_children *u)
{
	for (size_t i = 0; u && i < u->count; i++)
		u->finding[i].visited = false;
}

void unrecorded_children_end(struct unrecorded_children *u)
{
	size_t kept = 0;

	for (size_t i = 0; u && i < u->count; i++)
		if (u->finding[i].visited)
			u->finding[kept++] = u->finding[i];
	if (u)
		u->count = kept;
}

static struct finding *finding_of(struct unrecorded_children *u, pid_t pid, uint64_t start_ticks)
{
	struct finding *f = NULL;

	for (size_t i = 0; !f && i < u->count; i++)
		if (u->finding[i].pid == pid && u->finding[i].start_ticks == start_ticks)
			f = &u->finding[i];
	if (!f && u->count < sizeof(u->finding) / sizeof(u->finding[0])) {
		f = &u->finding[u->count++];
		*f = (struct finding){ .pid = pid, .start_ticks = start_ticks };
	}
	if (f)
		f->visited = true;
	return f;
}

/* Whether a check is due; then the caller ends it with finding_done. */
static bool finding_due(const struct finding *f, uint64_t *now)
{
	*now = clock_monotonic_ns();
	return *now >= f->due_ns;
}

static void finding_done(const struct unrecorded_children *u, struct finding *f, uint64_t began)
{
	f->due_ns = began + (clock_monotonic_ns() - began) * CHECK_SHARE * u->count;
}

static void reason_read(struct finding *f)
{
	if (target_unrecorded(f->pid, f->why, f->command, sizeof(f->command)) != 0)
		f->why[0] = '\0';
}

static void row_fill(struct process_row *row, const struct finding *f)
{
	memcpy(row->why, f->why, sizeof(row->why));
	memcpy(row->command, f->command, sizeof(row->command));
	row->has_live = false;
}

void unrecorded_children_check(
	struct unrecorded_children *u, struct process_row *row, const char *segment)
{
	uint64_t now, ticks;
	struct finding *f;

	if (!u || proc_start_ticks(row->pid, &ticks) != 0)
		return;
	f = finding_of(u, row->pid, ticks);
	if (!f)
		return;
	if (finding_due(f, &now)) {
		f->without = proc_maps_missing(row->pid, segment, f->without);
		f->why[0] = '\0';
		if (f->without >= WITHOUT_MIN)
			reason_read(f);
		finding_done(u, f, now);
	}
	if (f->why[0])
		row_fill(row, f);
}

static bool is_listed(const struct unrecorded_children *u, pid_t pid)
{
	for (size_t i = 0; i < u->rows; i++)
		if (u->row[i].pid == pid && u->row[i].has_rss)
			return true;
	return false;
}

static void row_add(
	struct unrecorded_children *u, const struct finding *f, const struct proc_reading *r)
{
	struct process_row *row = &u->row[u->rows];

	if (u->rows == PROCESSES_MAX) {
		++*u->more;
		return;
	}
	*row = (struct process_row){ .id = processes_id(f->pid, f->start_ticks, 0),
		.pid = f->pid,
		.parent = u->row[u->parent].pid,
		.group = u->row[u->parent].group,
		.state = processes_state(r->state),
		.rss_bytes = r->rss_bytes,
		.has_rss = true };
	row_fill(row, f);
	u->rows++;
}

static void child_visit(void *ctx, pid_t child)
{
	struct unrecorded_children *u = ctx;
	struct proc_reading r;
	struct finding *f;
	uint64_t now;

	if (child == getpid() || is_listed(u, child) || proc_read(child, false, &r) != 0 ||
		r.ends_unsaid)
		return;
	f = finding_of(u, child, r.start_ticks);
	if (!f)
		return;
	if (finding_due(f, &now)) {
		reason_read(f);
		finding_done(u, f, now);
	}
	if (f->why[0])
		row_add(u, f, &r);
}

size_t unrecorded_children_add(struct unrecorded_children *u, struct process_row row[PROCESSES_MAX],
	size_t count, size_t *more)
{
	if (!u)
		return count;
	u->row = row;
	u->rows = count;
	u->more = more;
	for (u->parent = 0; u->parent < u->rows; u->parent++)
		if (row[u->parent].has_rss)
			proc_children(row[u->parent].pid, child_visit, u);
	return u->rows;
}
