/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records every event of a launch, or of a process attached to, into a file (--record-events): a
 * thread reads the rings, orders the events, and writes them. Later images and children of a launch
 * are in the same file. Start and end on the main thread.
 */
#ifndef SRC_RUN_EVENT_DRAIN_H
#define SRC_RUN_EVENT_DRAIN_H

#include <stdbool.h>
#include "src/model/snapshot.h"

#define EVENT_DRAIN_MESSAGE_MAX 256

struct event_drain;

struct event_drain_options {
	const char *segment; /* path; it may be removed afterwards */
	const char *file;
	bool lossless; /* the program waits for us rather than overwrite an event */
	bool attached; /* it has blocks already */
};

/* Asks the program for events; those it writes from then on are recorded. NULL and one line in
 * `message` (EVENT_DRAIN_MESSAGE_MAX). */
struct event_drain *event_drain_start(const struct event_drain_options *o, char *message);

struct event_drain_state {
	const char *file; /* as long as the drain */
	uint64_t events, file_bytes;
	uint64_t since_ns; /* when it began, CLOCK_MONOTONIC */
	uint64_t lost; /* overwritten before they were read */
	uint64_t waits, waited_ns; /* of the program, for us */
	uint32_t images;
	uint32_t unopened; /* images that could not be opened, at the end */
	uint32_t unread; /* images that could not be read to their end */
	int error; /* -errno: why events are no longer read */
};
void event_drain_state(struct event_drain *d, struct event_drain_state *out);

/* To be called before the segment of an image of the launch is removed: reads what is left in it.
 * Waits for the thread, some milliseconds. */
void event_drain_take(struct event_drain *d, const char *path);

/*
 * Reads what is left, writes the names in `last` (may be NULL), and closes the file. *state gets
 * the final figures. 0, or -errno: the file can be read up to where that happened.
 */
int event_drain_end(
	struct event_drain *d, const struct snapshot *last, struct event_drain_state *state);

#endif
