/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that a desk may choose from (agent_processes.h). */
#include "src/run/agent_processes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/model/processes.h"
#include "src/proc/proc.h"
#include "src/target/target.h"
#include "src/util/text.h"

#define ANCESTORS_MAX 16u /* levels searched upward */

/* ---- which ---- */

static bool is_below(pid_t pid, pid_t above)
{
	struct proc_reading r;

	for (unsigned i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
		if (pid == above)
			return true;
		pid = proc_read(pid, false, &r) == 0 ? r.ppid : 0;
	}
	return false;
}

static bool is_ours(const struct agent_processes *a, const struct target_segment *t)
{
	if (t->state != TARGET_RUNNING || t->replaced || t->process <= 0)
		return false;
	return (a->family && t->family == a->family) || is_below(t->process, a->first);
}

static uint64_t id_of(const struct target_segment *t)
{
	return processes_id(t->pid, t->start_ticks, t->pid_namespace);
}

/* ---- the list ---- */

struct listing {
	const struct agent_processes *a;
	struct far_row *rows;
	size_t count;
	uint64_t more;
};

static void row_read(struct far_row *row, const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *s = read_open(path, message);
	struct read_totals t;

	if (s && read_totals(s, &t) == 0) {
		row->live_bytes = t.live_bytes;
		row->peak_bytes = t.peak_bytes;
		row->has_live = true;
	}
	read_close(s);
}

/* The library's own reason for recording nothing, or not all. */
static void row_reason(struct far_row *row, const char *path)
{
	char message[READ_MESSAGE_MAX];
	struct read_identity id;

	if (read_identity_of_file(path, &id, message) == 0)
		text_clean(row->why, sizeof(row->why), id.why, strlen(id.why));
}

static int segment_visit(void *ctx, const struct target_segment *t)
{
	struct listing *l = ctx;
	struct far_row *row = &l->rows[l->count];
	struct proc_reading r;

	if (!is_ours(l->a, t))
		return 0;
	if (l->count == FAR_ROWS_MAX) {
		l->more++;
		return 0;
	}
	*row = (struct far_row){ .id = id_of(t), .pid = (uint64_t)t->process };
	for (size_t i = 0; i < l->count; i++)
		if (l->rows[i].id == row->id)
			return 0; /* target_list returns a process's newest image first */
	text_clean(row->command, sizeof(row->command), t->command,
		strnlen(t->command, sizeof(row->command) - 1));
	if (proc_read(t->process, false, &r) == 0) {
		row->state = r.state;
		row->parent = (uint64_t)r.ppid;
		row->rss_bytes = r.rss_bytes;
		row->has_rss = true;
	}
	row_read(row, t->path);
	row_reason(row, t->path);
	l->count++;
	return 0;
}

static bool is_listed(const struct listing *l, uint64_t pid)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->rows[i].pid == pid)
			return true;
	return false;
}

/* Replaces a parent that is not recorded by the nearest ancestor that is. */
static void parent_find(const struct listing *l, struct far_row *row)
{
	pid_t above = (pid_t)row->parent;
	struct proc_reading r;

	for (unsigned i = 0; above > 1 && i < ANCESTORS_MAX && !is_listed(l, (uint64_t)above); i++)
		above = proc_read(above, false, &r) == 0 ? r.ppid : 0;
	row->parent = above > 1 && is_listed(l, (uint64_t)above) ? (uint64_t)above : 0;
}

static size_t rows_list(void *ctx, struct far_row *rows, uint64_t *more)
{
	struct listing l = { .a = ctx, .rows = rows };

	(void)target_list(segment_visit, &l);
	for (size_t i = 0; i < l.count; i++)
		parent_find(&l, &rows[i]);
	*more = l.more;
	return l.count;
}

/* ---- opening one ---- */

struct search {
	const struct agent_processes *a;
	uint64_t id;
	struct target_segment segment;
	bool found;
};

static int search_visit(void *ctx, const struct target_segment *t)
{
	struct search *s = ctx;

	if (id_of(t) != s->id || !is_ours(s->a, t))
		return 0;
	s->segment = *t;
	s->found = true;
	return 1;
}

static int process_open(struct agent_process *p, const struct target_segment *t, char *why)
{
	int rc;

	p->segment = read_open(t->path, why);
	if (!p->segment)
		return -EIO;
	rc = agent_images_open(&p->images, p->segment, t->process);
	if (rc == 0)
		return 0;
	read_close(p->segment);
	p->segment = NULL;
	snprintf(why, READ_MESSAGE_MAX, "%s", strerror(-rc));
	return rc;
}

static int view_open(
	void *ctx, unsigned view, uint64_t id, struct far_process *out, char *why, size_t cap)
{
	struct agent_processes *a = ctx;
	struct agent_process *p = &a->process[view];
	struct search s = { .a = a, .id = id };
	char message[READ_MESSAGE_MAX] = "this process has ended";
	int rc = -ESRCH;

	(void)target_list(search_visit, &s);
	if (s.found)
		rc = process_open(p, &s.segment, message);
	snprintf(why, cap, "%s", message);
	if (rc != 0)
		return rc;
	*out = (struct far_process){ .segment = p->segment,
		.pid = s.segment.process,
		.next = agent_images_next,
		.next_ctx = &p->images };
	return 0;
}

static void view_close(void *ctx, unsigned view)
{
	struct agent_processes *a = ctx;
	struct agent_process *p = &a->process[view];

	if (!p->segment)
		return;
	agent_images_close(&p->images);
	read_close(p->segment);
	p->segment = NULL;
}

int agent_processes_open(struct agent_processes *a, struct read_segment *first, pid_t pid)
{
	struct read_identity id;
	int rc = read_identity(first, &id);

	*a = (struct agent_processes){ .first = pid };
	if (rc != 0)
		return rc;
	a->family = id.family;
	a->others = (struct far_others){ a, rows_list, view_open, view_close };
	return 0;
}

void agent_processes_close(struct agent_processes *a)
{
	for (unsigned i = 0; i < FAR_VIEWS; i++)
		view_close(a, i);
}
