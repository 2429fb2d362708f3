/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes without a segment (unrecorded.h), by /proc. Main thread. */
#include "src/run/unrecorded_children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/target/target.h"
#include "src/util/clock.h"

/* A look reads maps or an executable: all of them may take 1/50 of the time. */
#define LOOK_SHARE 50u
/* A new image takes its segment only when it was loaded, so one look in between means nothing. */
#define LEFT_AFTER 2u

/* What the last look at a process said. */
struct finding {
	pid_t pid;
	uint64_t start_ticks;
	uint64_t due_ns; /* of the next look */
	unsigned without; /* looks in a row at which it did not have its segment */
	char why[PROCESSES_WHY]; /* empty: nothing is to be said of it */
	char command[PROCESSES_COMMAND];
	bool asked; /* in this look */
};

struct unrecorded_children {
	struct finding found[2 * PROCESSES_MAX];
	size_t count;
	/* Of unrecorded_children_add. */
	struct process_row *row;
	size_t rows, above; /* whose children are visited */
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
		u->found[i].asked = false;
}

void unrecorded_children_end(struct unrecorded_children *u)
{
	size_t kept = 0;

	for (size_t i = 0; u && i < u->count; i++)
		if (u->found[i].asked)
			u->found[kept++] = u->found[i];
	if (u)
		u->count = kept;
}

static struct finding *finding_of(struct unrecorded_children *u, pid_t pid, uint64_t start_ticks)
{
	struct finding *f = NULL;

	for (size_t i = 0; !f && i < u->count; i++)
		if (u->found[i].pid == pid && u->found[i].start_ticks == start_ticks)
			f = &u->found[i];
	if (!f && u->count < sizeof(u->found) / sizeof(u->found[0])) {
		f = &u->found[u->count++];
		*f = (struct finding){ .pid = pid, .start_ticks = start_ticks };
	}
	if (f)
		f->asked = true;
	return f;
}

/* Whether it is to be looked at now; `finding_done` ends that. */
static bool finding_due(const struct finding *f, uint64_t *now)
{
	*now = clock_monotonic_ns();
	return *now >= f->due_ns;
}

static void finding_done(const struct unrecorded_children *u, struct finding *f, uint64_t began)
{
	f->due_ns = began + (clock_monotonic_ns() - began) * LOOK_SHARE * u->count;
}

static void reason_take(struct finding *f)
{
	if (target_unrecorded(f->pid, f->why, f->command, sizeof(f->command)) != 0)
		f->why[0] = '\0';
}

static void row_tell(struct process_row *row, const struct finding *f)
{
	memcpy(row->why, f->why, sizeof(row->why));
	memcpy(row->command, f->command, sizeof(row->command));
	row->has_live = false;
}

void unrecorded_children_left(
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
		f->without = proc_maps_name(row->pid, segment) == 0 ? f->without + 1 : 0;
		f->why[0] = '\0';
		if (f->without >= LEFT_AFTER)
			reason_take(f);
		finding_done(u, f, now);
	}
	if (f->why[0])
		row_tell(row, f);
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
		.parent = u->row[u->above].pid,
		.state = processes_state(r->state),
		.rss_bytes = r->rss_bytes,
		.has_rss = true };
	row_tell(row, f);
	u->rows++;
}

static void child_visit(void *ctx, pid_t child)
{
	struct unrecorded_children *u = ctx;
	struct proc_reading r;
	struct finding *f;
	uint64_t now;

	if (child == getpid() || is_listed(u, child) || proc_read(child, false, &r) != 0)
		return;
	f = finding_of(u, child, r.start_ticks);
	if (!f)
		return;
	if (finding_due(f, &now)) {
		reason_take(f);
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
	for (u->above = 0; u->above < u->rows; u->above++)
		if (row[u->above].has_rss)
			proc_children(row[u->above].pid, child_visit, u);
	return u->rows;
}
