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

struct processes;

/* `main`: the one that is watched; must outlive it. NULL on allocation failure. */
struct processes *processes_new(struct watch *main);
/* Closes those that were looked at, and removes the segments of those that ended meanwhile. */
void processes_free(struct processes *p);
/*
 * Looks who there is now. Returns how many rows, and the rows, which are good until the next call;
 * *more: how many there are besides. Costs a look at each segment: for when they are on the screen.
 */
size_t processes_list(struct processes *p, const struct process_row **rows, size_t *more);
/* Shows another one from now on. 0, or -errno and a line that says why not in `msg`. */
int processes_show(struct processes *p, uint64_t id, char *msg, size_t cap);
/* The one that is shown. */
struct watch *processes_shown(const struct processes *p);
/* Reads those that were looked at and are not shown, so that nothing of their past is missing. */
void processes_tick(struct processes *p);

#endif
