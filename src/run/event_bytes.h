/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of a call site between machines. The desk asks again and again; each answer has the
 * lines that are new or have changed since the one before. Pure.
 */
#ifndef SRC_RUN_EVENT_BYTES_H
#define SRC_RUN_EVENT_BYTES_H

#include "src/run/event_tail.h"
#include "src/util/bytes.h"

struct event_request {
	uint32_t site;
	bool begins; /* nothing was sent before */
};

void event_request_put(struct bytes *b, const struct event_request *r);
/* 0 or -EPROTO. */
int event_request_get(struct bytes_cursor *c, struct event_request *out);

/* What a desk has: the latest lines, of consecutive numbers, oldest first. All zeros: none. */
struct event_copy {
	struct event_line line[EVENT_TAIL_LINES];
	size_t count;
	uint64_t missed;
	bool ended; /* no more can be read: */
	char why[EVENT_TAIL_MESSAGE_MAX]; /* one line; clean if it came from an agent */
};

/* Writes what `now` has beyond the desk's copy, and changes that accordingly. Returns whether there
 * was anything. */
bool event_copy_put(struct bytes *b, struct event_copy *has, const struct event_copy *now);
/* The same in reverse: changes the copy by an answer. 0 or -EPROTO, and it is of no use. */
int event_copy_get(struct bytes_cursor *c, struct event_copy *has);

#endif
