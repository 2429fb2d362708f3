/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leak scans of a launch's other processes, for a report: each at its end, and those that go on
 * when the report is made, then; and every so often, if that is asked for. Main thread.
 */
#ifndef SRC_RUN_LEAK_CHILDREN_H
#define SRC_RUN_LEAK_CHILDREN_H

#include "src/run/run.h"

/* To be called often. Who waits at its end is let go on, and scanned at its last instant. */
void leak_children_scan(struct run *r);
/* Such scans as are under way are to end. */
void leak_children_cancel(struct run *r);
/*
 * To be called often: scans one of them, if it is due. Its session, or NULL. When its names are in,
 * judge takes out what the rules match, and `s`, a snapshot of it, says what is new since the turn
 * before.
 */
struct session *leak_children_due(struct run *r);
void leak_children_judge(struct run *r, struct session *session, const struct snapshot *s);
/* Before the last snapshot: who still runs is scanned now. */
void leak_children_finish(struct run *r);
/* After it: takes what the rules match out of the children's results. */
void leak_children_suppress(struct run *r, const struct snapshot *s);
/* When no snapshot is held any more. */
void leak_children_free(struct run *r);

#endif
