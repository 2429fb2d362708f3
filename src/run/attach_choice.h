/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process -a means, where the command line does not give its pid. Main thread. */
#ifndef SRC_RUN_ATTACH_CHOICE_H
#define SRC_RUN_ATTACH_CHOICE_H

#include "src/run/candidates.h"
#include "src/run/options.h"

/*
 * Has the user choose among `candidates`, under a title. Returns the number of processes, at most
 * `max`; 0: the user left; or minus the exit status.
 */
typedef int attach_choose(
	void *ctx, struct candidates *candidates, const char *title, pid_t *pids, size_t max);

/*
 * Finds the processes that options.attach describes and fills in their pids, with `choose` if there
 * are several; NULL: without a screen, they are listed instead. Waits, if so asked. -1: go on, or
 * the exit status.
 */
int attach_choice_make(struct options *o, attach_choose *choose, void *ctx);

#endif
