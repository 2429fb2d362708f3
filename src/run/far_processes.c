/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes on another machine (far_processes.h). */
#include "src/run/far_processes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void row_make(struct process_row *row, const struct far_row *f)
{
	*row = (struct process_row){ .id = f->id,
		.pid = (pid_t)f->pid,
		.parent = (pid_t)f->parent,
		.state = processes_state(f->state),
		.live_bytes = f->live_bytes,
		.peak_bytes = f->peak_bytes,
		.rss_bytes = f->rss_bytes,
		.has_live = f->has_live,
		.has_peak = f->has_live,
		.has_rss = f->has_rss };
	snprintf(row->command, sizeof(row->command), "%s", f->command);
	snprintf(row->why, sizeof(row->why), "%.*s", (int)sizeof(row->why) - 1, f->why);
}

size_t far_processes_rows(
	struct far_processes *f, struct process_row *row, size_t max, size_t *more)
{
	const struct far_row *rows;
	uint64_t others;
	size_t count = far_run_rows(f->run, &rows, &others), n = 0;

	for (size_t i = 0; i < count; i++) {
		/* A row with the id of another one, or of what is no process, is no row. */
		bool has = rows[i].id == PROCESSES_ALL;

		for (size_t k = 0; k < n && !has; k++)
			has = row[k].id == rows[i].id;
		if (!has && n < max)
			row_make(&row[n++], &rows[i]);
	}
	*more += (size_t)others;
	return n;
}

int far_processes_choose(struct far_processes *f, uint64_t id, unsigned view, char *msg)
{
	int rc = f->coming ? -EBUSY : far_run_choose(f->run, view, id);

	if (rc == 0) {
		f->coming = id;
		f->view = view;
	}
	f->wanted |= rc == 0 || f->coming == id;
	if (rc == 0 || f->coming == id)
		snprintf(msg, READ_MESSAGE_MAX,
			"its heap is being transferred, and is shown once it has arrived");
	else if (rc == -EBUSY)
		snprintf(msg, READ_MESSAGE_MAX, "another process is still being transferred");
	else
		snprintf(
			msg, READ_MESSAGE_MAX, "requesting this process failed: %s", strerror(-rc));
	return rc;
}

static struct process_tree *watch_open(
	struct far_processes *f, const struct session *beside, char *msg)
{
	struct process_tree_options o = { .is_copy = true, .session.beside = beside };
	struct process_tree *w;
	struct session *s;

	far_run_session(f->run, f->view, &o.session);
	s = session_open(far_run_path(f->run, f->view), &o.session, msg);
	far_run_opened(f->run, f->view);
	w = s ? process_tree_new(s, &o) : NULL;
	if (s && !w) {
		session_close(s);
		snprintf(msg, READ_MESSAGE_MAX, "out of memory");
	}
	return w;
}

struct process_tree *far_processes_take(struct far_processes *f, const struct session *beside)
{
	char message[READ_MESSAGE_MAX];
	int rc = f->coming ? far_run_chosen(f->run, f->view, message) : 0;
	struct process_tree *w;

	if (rc == 0)
		return NULL;
	w = rc == 1 ? watch_open(f, beside, message) : NULL;
	f->coming = 0;
	if (!w) {
		far_run_leave(f->run, f->view);
		far_run_say(f->run, message);
	}
	return w;
}

void far_processes_follow(struct far_processes *f, struct process_tree *w, unsigned view)
{
	char message[READ_MESSAGE_MAX];

	if (!f->run || view == 0 || !far_run_image(f->run, view))
		return;
	(void)process_tree_follow(w, far_run_path(f->run, view), message);
	far_run_opened(f->run, view);
}
