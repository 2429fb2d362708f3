/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of this user's recorded processes, and which of them is on the screen. A process that
 * was shown stays open and is still read, so that its trends are complete when the user returns
 * to it.
 * Viewing a process never changes what it records. Main thread.
 */
#ifndef SRC_RUN_PROCESS_TABLE_H
#define SRC_RUN_PROCESS_TABLE_H

#include "src/model/processes.h"
#include "src/run/histories.h"
#include "src/run/launch_sum.h"
#include "src/run/process_tree.h"

struct process_table;
struct far_run;

/* `main`: the watched process; `far`: where it is, NULL: here. Both must outlive the list. NULL on
 * allocation failure. */
struct process_table *process_table_new(struct process_tree *main, struct far_run *far);
/* Closes the processes that were shown, and removes the segments of those that ended meanwhile. */
void process_table_free(struct process_table *p);
/*
 * Reads the list. Returns the number of rows, and the rows, which are valid until the next call;
 * *more: the number of processes without a row. Reads each segment, so call it only while the list
 * is on the screen.
 */
size_t process_table_rows(struct process_table *p, const struct process_row **rows, size_t *more);
/* Shows the process `id`, or all of the launch (PROCESSES_ALL), from now on. 0, or -errno and the
 * reason in `msg`; -EINPROGRESS: once it has come from another machine. */
int process_table_show(struct process_table *p, uint64_t id, char *msg, size_t cap);
/* The process that is shown; the launched one while all are. */
struct process_tree *process_table_current(const struct process_table *p);
/* All processes of the launch, while they are shown as one; NULL: they are not. */
struct launch_sum *process_table_all(const struct process_table *p);
/*
 * Reads the open processes that are not shown, so that their trends and their histories in `h` (may
 * be NULL) have no gap. `now`: the newest snapshot of `main`, or NULL.
 */
void process_table_tick(struct process_table *p, struct histories *h, struct snapshot *now);
/* The newest snapshot of all processes as one: a reference, the caller's. NULL and errno. */
struct snapshot *process_table_sum(struct process_table *p);

#endif
