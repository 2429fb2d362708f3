/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of a launch's other processes, for a report: each process is scanned at its end, or,
 * if it still runs, when the report is made; and at intervals with --leak-check=every:TIME. Main
 * thread.
 */
#ifndef SRC_RUN_LEAK_CHILDREN_H
#define SRC_RUN_LEAK_CHILDREN_H

#include "src/leak/scan.h"
#include "src/run/run.h"

struct leak_children;

/* `progress`: of scans that the main thread waits for. NULL without memory. */
struct leak_children *leak_children_new(struct run *r, struct leak_progress *progress);
/* When no snapshot is held any more. */
void leak_children_free(struct leak_children *l);
/* To be called often: lets a process that waits at its end go on, and scans it at its last instant.
 */
void leak_children_scan(struct leak_children *l);
/* Cancels the scans that are under way. */
void leak_children_cancel(struct leak_children *l);
/*
 * To be called often: scans one of the processes whose interval has passed. Its session, or NULL.
 * Once its names are in, leak_children_judge applies the suppressions, and `s`, a snapshot of it,
 * says what is new since the round before.
 */
struct session *leak_children_due(struct leak_children *l);
void leak_children_judge(
	struct leak_children *l, struct session *session, const struct snapshot *s);
/* Before the last snapshot: scans the processes that still run. */
void leak_children_finish(struct leak_children *l);
/* After the last poll: says of those that came after the scans that they have none. */
void leak_children_left(struct leak_children *l);
/* After the last snapshot: applies the suppressions to the children's results. */
void leak_children_suppress(struct leak_children *l, const struct snapshot *s);

#endif
