/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves what a program asks of its viewer through heaptop.h. Main thread. */
#ifndef SRC_RUN_PROGRAM_ASKS_H
#define SRC_RUN_PROGRAM_ASKS_H

#include "src/run/options.h"
#include "src/session/session.h"

/* Saves a snapshot if the program has asked for one; `now` is its newest. With --readonly nothing
 * is written. */
void program_asks_save(struct session *s, const struct snapshot *now, const struct options *o);
/* Whether it has asked for a leak scan since the last call. */
bool program_asks_scan(struct session *s);

#endif
