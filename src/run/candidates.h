/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that may be attached to, as rows to choose from. Main thread. */
#ifndef SRC_RUN_CANDIDATES_H
#define SRC_RUN_CANDIDATES_H

#include "src/model/processes.h"

struct candidates;

/* Those that have this name (processes.h), or all of our user's if it is NULL. NULL: out of memory.
 */
struct candidates *candidates_new(const char *name);
void candidates_free(struct candidates *c);
/*
 * Those that run now, the largest first. In a row, rate_bytes_per_s is the growth of RSS over the
 * last calls, and has_live says that the process is recorded. Valid until the next call; *more:
 * those left out.
 */
size_t candidates_rows(void *candidates, const struct process_row **rows, size_t *more);

#endif
