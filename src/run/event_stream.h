/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of one process image on their way from its rings into a file: reads the rings, orders
 * what they held, and writes it, with each site's stack before its first event. One thread.
 */
#ifndef SRC_RUN_EVENT_STREAM_H
#define SRC_RUN_EVENT_STREAM_H

#include "src/read/read.h"
#include "src/record/event_order.h"
#include "src/record/event_write.h"

struct event_stream;

struct event_stream_options {
	struct event_writer *writer;
	uint32_t number; /* of the stream */
	bool lossless; /* the program waits for us rather than overwrite an event */
	bool attached; /* it has blocks already */
};

/* Opens the segment at `path`, and asks for events. NULL and one line in `message`
 * (READ_MESSAGE_MAX). */
struct event_stream *event_stream_open(
	const char *path, const struct event_stream_options *o, char *message);
/* Writes who it is, once the library has reported; a pass does so, too. Readers expect the streams
 * of a file to begin in the order of their numbers. */
void event_stream_introduce(struct event_stream *s);
/* Asks the program to go on writing events, and to wait for us. 0 or -errno. */
int event_stream_renew(struct event_stream *s, uint64_t now_ns);
/* The blocks that are live already, of a program attached to. 0 or -errno. */
int event_stream_seed(struct event_stream *s);
/* What of the events that were read is passed on: those older than the reading; the same, but some
 * thousands at most; or all, because no more will come. */
enum event_stream_way { EVENT_STREAM_ALL, EVENT_STREAM_PART, EVENT_STREAM_LAST };
/* Reads all rings once, then passes on events. Returns the number of events read, or -errno. */
ssize_t event_stream_pass(struct event_stream *s, enum event_stream_way way);
/* Whether the last pass left events for the next one. */
bool event_stream_is_behind(const struct event_stream *s);
/* Writes what has been passed on, if the last time was before `before_ns`. */
void event_stream_flush(struct event_stream *s, uint64_t before_ns);
/* The segment's. Valid until it is closed. */
const char *event_stream_path(const struct event_stream *s);
/* Whether the segment was removed: the process has ended. */
bool event_stream_is_over(const struct event_stream *s);
struct event_order_counts event_stream_counts(const struct event_stream *s);
void event_stream_waits(const struct event_stream *s, uint64_t *waits, uint64_t *waited_ns);

/* An image after its end. */
struct event_stream_end {
	uint32_t number;
	int32_t pid;
	uint64_t start_realtime_ns;
	struct event_end end;
	int error; /* -errno: why not all of it could be read; or 0 */
};
/* Takes the rest, writes it, and closes the segment. */
void event_stream_close(struct event_stream *s, struct event_stream_end *out);

#endif
