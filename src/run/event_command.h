/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -r on a recording of all events: a report of any moment, or the events in a format of
 * other tools. Main thread. */
#ifndef SRC_RUN_EVENT_COMMAND_H
#define SRC_RUN_EVENT_COMMAND_H

#include "src/run/options.h"

/* Whether the file that the options name is such a recording. */
bool event_command_is(const struct options *o);
/* A report, or with event_format all events of the image that reports show. Returns the exit status
 * of heaptop. */
int event_command_run(const struct options *o);

#endif
