/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live tail of one call site of the process on the screen (event_tail.h, far_events.h), which
 * is read many times between two ticks. The program never waits for it. What the functions mean is
 * in struct tui_source (tui/tui.h). Main thread.
 */
#ifndef SRC_RUN_SCREEN_EVENTS_H
#define SRC_RUN_SCREEN_EVENTS_H

#include <poll.h>
#include "src/far/order.h"
#include "src/model/event_line.h"

struct screen_events;

/* NULL without memory. */
struct screen_events *screen_events_new(void);
void screen_events_free(struct screen_events *e);
/* Follows a site of the segment at `path`, or by an agent if `far` is not NULL, and ends what was
 * followed before. */
int screen_events_follow(struct screen_events *e, const char *path, const struct far_order *far,
	uint32_t site, char *msg, size_t cap);
void screen_events_stop(struct screen_events *e);
const struct event_lines *screen_events_lines(const struct screen_events *e);
/* Its descriptor, while a site is followed; and a pass over the rings, if one is due. True: there
 * are new lines, and time to draw them. */
int screen_events_fds(const struct screen_events *e, struct pollfd *fds, int max);
bool screen_events_collect(struct screen_events *e);

#endif
