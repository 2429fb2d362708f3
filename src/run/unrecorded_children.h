/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that recorded ones have started and that are not recorded themselves, each with the
 * reason, for the list of processes: so that nobody wonders where a child is. What was found out is
 * kept and looked at again as often as it may cost. Main thread.
 */
#ifndef SRC_RUN_UNRECORDED_CHILDREN_H
#define SRC_RUN_UNRECORDED_CHILDREN_H

#include "src/model/processes.h"

struct unrecorded_children;

/* NULL on allocation failure; then the functions below do nothing. */
struct unrecorded_children *unrecorded_children_new(void);
void unrecorded_children_free(struct unrecorded_children *u);
/* A look begins, and ends: what it was not asked for is forgotten. */
void unrecorded_children_begin(struct unrecorded_children *u);
void unrecorded_children_end(struct unrecorded_children *u);
/*
 * A process with a segment, of the file name `segment`, that may have gone on without it, by exec:
 * then the row gets the reason why there is no newer one, and the command of now.
 */
void unrecorded_children_left(
	struct unrecorded_children *u, struct process_row *row, const char *segment);
/*
 * Adds rows below the `count` of those that are there, PROCESSES_MAX in all; *more grows by those
 * without room. Returns how many rows there are.
 */
size_t unrecorded_children_add(struct unrecorded_children *u, struct process_row row[PROCESSES_MAX],
	size_t count, size_t *more);

#endif
