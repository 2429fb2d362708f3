/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latest events of a call site of a program on another machine, as event_tail.h has those of
 * one here. Main thread. */
#ifndef SRC_RUN_FAR_EVENTS_H
#define SRC_RUN_FAR_EVENTS_H

#include "src/far/order.h"
#include "src/run/event_tail.h"

struct far_events;

/* Asks for them; `order` outlives it. NULL and one line in `message` (EVENT_TAIL_MESSAGE_MAX). */
struct far_events *far_events_open(const struct far_order *order, uint32_t site, char *message);
void far_events_close(struct far_events *e);
/* Takes what has come, and asks for more. 1: lines have changed; 0; or -errno: no more come. */
int far_events_update(struct far_events *e);
/* After that: why, in one clean line. */
const char *far_events_why(const struct far_events *e);
/* The kept lines, as event_tail_lines. */
size_t far_events_lines(const struct far_events *e, const struct event_line **lines);
uint64_t far_events_missed(const struct far_events *e);

#endif
