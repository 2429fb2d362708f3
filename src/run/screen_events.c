/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live tail of one call site (screen_events.h). Main thread. */
#include "src/run/screen_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/run/event_tail.h"
#include "src/run/far_events.h"

#define PASS_NS	    20000000 /* a ring holds 16,384 events: 800,000 a second are read without a gap */
#define DRAW_PASSES 5u /* ten frames a second: nobody reads more */
#define FAR_PASS_NS 100000000 /* an agent sends what is new since the last one */

struct screen_events {
	/* Both NULL: nothing is followed. */
	struct event_tail *tail;
	struct far_events *far; /* on another machine */
	int timer; /* -1: none */
	unsigned passes; /* since the last frame */
	bool changed;
	struct event_lines lines;
	char why[EVENT_TAIL_MESSAGE_MAX];
};

struct screen_events *screen_events_new(void)
{
	struct screen_events *e = calloc(1, sizeof(*e));

	if (e)
		e->timer = -1;
	return e;
}

void screen_events_stop(struct screen_events *e)
{
	event_tail_close(e->tail);
	far_events_close(e->far);
	if (e->timer >= 0)
		close(e->timer);
	*e = (struct screen_events){ .timer = -1 };
}

void screen_events_free(struct screen_events *e)
{
	if (e)
		screen_events_stop(e);
	free(e);
}

int screen_events_follow(struct screen_events *e, const char *path, const struct far_order *far,
	uint32_t site, char *msg, size_t cap)
{
	const struct timespec pass = { 0, far ? FAR_PASS_NS : PASS_NS };
	const struct itimerspec often = { pass, pass };
	char message[EVENT_TAIL_MESSAGE_MAX];
	int rc;

	screen_events_stop(e);
	if (far)
		e->far = far_events_open(far, site, message);
	else
		e->tail = event_tail_open(path, site, message);
	if (!e->tail && !e->far) {
		snprintf(msg, cap, "%s", message);
		return -EIO;
	}
	e->lines.site = site;
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (e->timer >= 0 && timerfd_settime(e->timer, 0, &often, NULL) == 0)
		return 0;
	rc = -errno;
	snprintf(msg, cap, "cannot follow events: %s", strerror(-rc));
	screen_events_stop(e);
	return rc;
}

const struct event_lines *screen_events_lines(const struct screen_events *e)
{
	return e->tail || e->far ? &e->lines : NULL;
}

int screen_events_fds(const struct screen_events *e, struct pollfd *fds, int max)
{
	if (e->timer < 0 || max < 1)
		return 0;
	fds[0] = (struct pollfd){ e->timer, POLLIN, 0 };
	return 1;
}

/* After an error there is nothing more to read. */
static void pass_failed(struct screen_events *e, int error)
{
	if (e->far)
		snprintf(e->why, sizeof(e->why), "%s", far_events_why(e->far));
	else
		event_tail_error(error, e->why);
	e->lines.why = e->why;
	close(e->timer);
	e->timer = -1;
}

/* One pass. Lines that have changed, or -errno. */
static int pass(struct screen_events *e, uint64_t *missed)
{
	int rc = e->far ? far_events_update(e->far) : event_tail_update(e->tail);

	e->lines.count = e->far ? far_events_lines(e->far, &e->lines.line)
				: event_tail_lines(e->tail, &e->lines.line);
	*missed = e->far ? far_events_missed(e->far) : event_tail_missed(e->tail);
	return rc;
}

bool screen_events_collect(struct screen_events *e)
{
	uint64_t times, missed;
	int rc;

	if (e->timer < 0 || read(e->timer, &times, sizeof(times)) < 0)
		return false;
	rc = pass(e, &missed);
	e->changed |= rc != 0 || e->lines.missed != missed;
	e->lines.missed = missed;
	if (rc < 0)
		pass_failed(e, rc);
	if (++e->passes < (e->far ? 1 : DRAW_PASSES) || !e->changed)
		return rc < 0;
	e->passes = 0;
	e->changed = false;
	return true;
}
