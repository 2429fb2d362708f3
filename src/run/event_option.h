/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --record-events in a run: its start and end, and what is said then. Main thread. */
#ifndef SRC_RUN_EVENT_OPTION_H
#define SRC_RUN_EVENT_OPTION_H

#include "src/model/timeline.h"
#include "src/run/event_drain.h"
#include "src/run/options.h"
#include "src/run/process_tree.h"
#include "src/session/session.h"

/* Starts recording if the options say so; *out is NULL if not. 0, or after one line on stderr the
 * exit status. */
int event_option_start(struct event_drain **out, const struct options *o, struct session *s);
/* Tells a new snapshot how many events were lost. Does nothing for NULL. */
void event_option_tick(struct event_drain *d, struct snapshot *now);
/* Fills in what a timeline says of the file. */
void event_option_fill(struct event_drain *d, struct timeline *t);
/* Writes a line that says why no more events are recorded. Does nothing if they are, or for NULL.
 */
void event_option_trouble(struct event_drain *d, char *line, size_t bytes);
/* Completes the file with the names of all process images, and says on stderr what it lacks. Does
 * nothing for NULL. */
void event_option_end(struct event_drain **d, struct process_tree *w);

/* process_tree_options.removing; `ctx` is a struct event_drain **. */
void event_option_removing(void *ctx, const char *path);

#endif
