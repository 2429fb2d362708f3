/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The latest allocations at one call site, as they happen, and what became of them: for the screen
 * and --trace. The program does not wait for it: a reader that comes too seldom misses some, which
 * are counted. One thread.
 */
#ifndef SRC_RUN_EVENT_TAIL_H
#define SRC_RUN_EVENT_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_TAIL_LINES       1000u
#define EVENT_TAIL_MESSAGE_MAX 256

struct event_tail;

struct event_tail_line {
	uint64_t number; /* of the allocation, from 1 on, by this reader */
	uint64_t ns; /* since the program's start */
	uint32_t slot, tid; /* the thread's slot, and its id now; 0: unknown */
	uint64_t addr, size;
	bool freed;
	uint64_t freed_after_ns;
	uint32_t freed_by; /* slot */
};

/* Asks the program for events. `path`: its segment. NULL and one line in `message`. */
struct event_tail *event_tail_open(const char *path, uint32_t site, char *message);
/* Reads what is new; call it some times a second. Number of changed lines, or -errno. */
int event_tail_update(struct event_tail *t);
/* The kept lines, at most EVENT_TAIL_LINES, oldest first: number of them. Valid until the next
 * update. */
size_t event_tail_lines(const struct event_tail *t, const struct event_tail_line **lines);
/* Events, at whatever site, that were overwritten before they were read. */
uint64_t event_tail_missed(const struct event_tail *t);
void event_tail_close(struct event_tail *t);

#endif
