/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The latest allocations at one call site, as they happen, and when each is freed: for the screen
 * and --trace. The program does not wait for the reader: one that reads too seldom misses some,
 * which are counted. One thread.
 */
#ifndef SRC_RUN_EVENT_TAIL_H
#define SRC_RUN_EVENT_TAIL_H

#include "src/model/event_line.h"

#define EVENT_TAIL_LINES       1000u
#define EVENT_TAIL_MESSAGE_MAX 256

struct event_tail;

/* Asks the program for events. `path`: its segment. NULL and one line in `message`. */
struct event_tail *event_tail_open(const char *path, uint32_t site, char *message);
/* One line about an error, in `message`. */
void event_tail_error(int error, char *message);
/* Reads what is new; call it some times a second. Number of changed lines, or -errno. */
int event_tail_update(struct event_tail *t);
/* The kept lines, at most EVENT_TAIL_LINES, oldest first: number of them. Valid until the next
 * update. */
size_t event_tail_lines(const struct event_tail *t, const struct event_line **lines);
/* Events, at whatever site, that were overwritten before they were read. */
uint64_t event_tail_missed(const struct event_tail *t);
void event_tail_close(struct event_tail *t);

#endif
