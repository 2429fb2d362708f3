/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unrecorded children of recorded processes, each with the reason, for the list of processes.
 * Results are cached and refreshed within a budget of processor time. Main thread.
 */
#ifndef SRC_RUN_UNRECORDED_CHILDREN_H
#define SRC_RUN_UNRECORDED_CHILDREN_H

#include "src/model/processes.h"

struct unrecorded_children;

/* NULL on allocation failure; then the functions below do nothing. */
struct unrecorded_children *unrecorded_children_new(void);
void unrecorded_children_free(struct unrecorded_children *u);
/* Begin and end a reading of the list. Processes not visited in between are forgotten. */
void unrecorded_children_begin(struct unrecorded_children *u);
void unrecorded_children_end(struct unrecorded_children *u);
/*
 * Checks a process with the segment file `segment` for an exec that lost the library. Then the row
 * gets the reason and the new command.
 */
void unrecorded_children_check(
	struct unrecorded_children *u, struct process_row *row, const char *segment);
/*
 * Adds rows after the first `count`, PROCESSES_MAX in all; *more grows by the processes that get no
 * row. Returns the number of rows.
 */
size_t unrecorded_children_add(struct unrecorded_children *u, struct process_row row[PROCESSES_MAX],
	size_t count, size_t *more);

#endif
