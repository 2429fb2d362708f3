/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A screen of its own: processes to choose from, before one of them is watched. The state, its keys
 * and its drawing; chooser_run.c waits. Main thread.
 */
#ifndef TUI_CHOOSER_H
#define TUI_CHOOSER_H

#include "src/model/processes.h"
#include "tui/list.h"
#include "tui/table.h"
#include "tui/tui.h"

#define CHOOSER_MARKS  32u
#define CHOOSER_FILTER 64u
#define CHOOSER_SAID   128u

struct chooser_source {
	void *ctx;
	/* The processes as they are now, in any order; rate_bytes_per_s is that of RSS, and
	 * has_live says that one is recorded. Valid until the next call. *more: those left out. */
	size_t (*rows)(void *ctx, const struct process_row **rows, size_t *more);
	const char *title; /* "choose a process" */
};

struct chooser {
	const struct chooser_source *source;
	const struct process_row *row; /* the source's */
	size_t count, more;
	uint16_t order[PROCESSES_MAX]; /* rows shown: indices into `row` */
	struct list list;
	struct table_order sort;
	uint64_t selected; /* id under the cursor */
	bool has_selected;
	uint64_t mark[CHOOSER_MARKS];
	unsigned marks;
	bool marks_ended; /* all marked processes have, since the last key */
	char filter[CHOOSER_FILTER];
	size_t filter_len;
	bool typing; /* keys go to the filter */
	char said[CHOOSER_SAID];
	int width, height;
	enum { CHOOSER_OPEN, CHOOSER_TAKEN, CHOOSER_LEFT } end;
};

void chooser_init(struct chooser *c, const struct chooser_source *source, int width, int height);
void chooser_resize(struct chooser *c, int width, int height);
/* Takes new rows. The cursor stays on its process, and on the first row until it was moved. Marks
 * of processes that have ended are dropped, which is reported. */
void chooser_refresh(struct chooser *c);
/* A key as curses gives it; *end* says when the user has chosen or left. */
void chooser_key(struct chooser *c, int key);
void chooser_draw(const struct chooser *c);
/* What was chosen: the marked processes, or without marks that under the cursor. Returns their
 * number, `max` at most. */
size_t chooser_taken(const struct chooser *c, pid_t *pids, size_t max);

/*
 * Takes the terminal until the user has chosen. Returns the number of processes, 0: none, or -EIO,
 * -ENOTTY, -EINTR (*signal) as tui_run does.
 */
int chooser_run(const struct chooser_source *source, const struct tui_options *o, pid_t *pids,
	size_t max, int *signal);

#endif
