/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves what a program asks of its viewer through heaptop.h. Main thread. */
#ifndef SRC_RUN_PROGRAM_ASKS_H
#define SRC_RUN_PROGRAM_ASKS_H

#include "src/run/options.h"
#include "src/session/session.h"

#define PROGRAM_ASKS_LINE 192

/* Saves a snapshot if the program has asked for one; `now` is its newest. With --readonly nothing
 * is written. `failed` gets a line if that fails, and is empty once it succeeds; otherwise it stays
 * as it is. */
void program_asks_save(struct session *s, const struct snapshot *now, const struct options *o,
	char failed[PROGRAM_ASKS_LINE]);
/* Whether it has asked for a leak scan since the last call. */
bool program_asks_scan(struct session *s);

#endif
