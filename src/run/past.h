/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run keeps of the past: histories in memory (histories.h), the recording of --record
 * (recorder.h) and that of --record-events (event_option.h). Main thread.
 */
#ifndef SRC_RUN_PAST_H
#define SRC_RUN_PAST_H

#include "src/run/event_option.h"
#include "src/run/histories.h"
#include "src/run/recorder.h"

struct past {
	struct histories *histories;
	struct recorder *recorder; /* NULL without --record */
	struct event_drain *events; /* NULL without --record-events; the run starts and ends it */
	char events_trouble[EVENT_DRAIN_MESSAGE_MAX]; /* why it goes on no more; "": it does */
};

/* Creates the file of --record. 0, or after one line on stderr the exit status to end with. */
int past_open(struct past *p, const struct options *o);
/* A refresh: adds the tree's newest snapshot (NULL: there is none) to both. */
void past_add(struct past *p, struct process_tree *w, struct snapshot *now);
/* Fills in what a timeline says of the recording, for a line of the program itself. */
void past_fill(const struct past *p, struct timeline *t);
/* A line for the user about the recording, valid as long as the past; or NULL. */
const char *past_notice(const struct past *p);
/* Ends the recording (recorder_close), and drops everything: also what holds segments open. */
void past_close(struct past *p, struct process_tree *w, uint64_t names_timeout_ns);
/* The program never ran: removes the file. */
void past_discard(struct past *p);

#endif
