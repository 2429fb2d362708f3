/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r on a recording of all events: a report of any moment, or the events in a format of
 * other tools. Main thread. */
#ifndef SRC_RUN_EVENT_COMMAND_H
#define SRC_RUN_EVENT_COMMAND_H

#include "src/model/snapshot.h"
#include "src/run/options.h"

/* A report, or with event_format all events of the image that reports show. Returns the exit status
 * of heaptop. */
int event_command_run(const struct options *o);
/* A moment of such a recording (at_time.h; NULL: its end): one reference, the caller's. NULL after
 * one line on stderr. */
struct snapshot *event_command_load(const char *path, const char *at);

#endif
