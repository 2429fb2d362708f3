/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a launch on another machine, for the list of processes, and the transfer of
 * the one that the user chose: the screen does not wait for a slow connection. Main thread.
 */
#ifndef SRC_RUN_FAR_PROCESSES_H
#define SRC_RUN_FAR_PROCESSES_H

#include "src/model/processes.h"
#include "src/run/far_run.h"
#include "src/run/process_tree.h"

#define FAR_PROCESSES_OPEN (FAR_VIEWS - 1) /* besides the program */

struct far_processes {
	struct far_run *run; /* NULL: the program is here */
	uint64_t coming; /* the process that was chosen; 0: none */
	unsigned view; /* its */
	bool wanted; /* it is to be shown when it is there */
};

/* Rows, at most `max`, in which `row->parent` is final; *more: those without. */
size_t far_processes_rows(
	struct far_processes *f, struct process_row *row, size_t max, size_t *more);
/* Chooses the process `id` to be shown as `view`. 0, or -errno and one line in `msg`
 * (READ_MESSAGE_MAX). */
int far_processes_choose(struct far_processes *f, uint64_t id, unsigned view, char *msg);
/* The one that was chosen, once it is there, with a session: `beside` as in session_options. NULL:
 * it is still to come, or does not come, which far_run_notice says, or none was chosen. */
struct process_tree *far_processes_take(struct far_processes *f, const struct session *beside);
/* Follows the process of a view through exec. Before each tick of it. */
void far_processes_follow(struct far_processes *f, struct process_tree *w, unsigned view);

#endif
