/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded processes of this user beside the one that is watched: a list of them, and looking
 * at another one for a while. Those that were looked at stay open and are read on, so that coming
 * back finds their trends whole; what a process records is never touched by who looks. Main thread.
 */
#ifndef SRC_RUN_PROCESS_LIST_H
#define SRC_RUN_PROCESS_LIST_H

#include "src/model/processes.h"
#include "src/run/watch.h"

struct process_list;

/* `main`: the one that is watched; must outlive it. NULL on allocation failure. */
struct process_list *process_list_new(struct watch *main);
/* Closes those that were looked at, and removes the segments of those that ended meanwhile. */
void process_list_free(struct process_list *p);
/*
 * Looks who there is now. Returns how many rows, and the rows, which are good until the next call;
 * *more: how many there are besides. Costs a look at each segment: for when they are on the screen.
 */
size_t process_list_rows(struct process_list *p, const struct process_row **rows, size_t *more);
/* Shows another one from now on. 0, or -errno and a line that says why not in `msg`. */
int process_list_show(struct process_list *p, uint64_t id, char *msg, size_t cap);
/* The one that is shown. */
struct watch *process_list_current(const struct process_list *p);
/* Reads those that were looked at and are not shown, so that nothing of their past is missing. */
void process_list_tick(struct process_list *p);

#endif
