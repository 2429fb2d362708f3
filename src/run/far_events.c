/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events from another machine (far_events.h). */
#include "src/run/far_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/run/event_bytes.h"
#include "src/util/text.h"

struct far_events {
	const struct far_order *order;
	uint32_t site;
	struct event_copy copy;
	char why[EVENT_TAIL_MESSAGE_MAX];
};

static int ask(struct far_events *e, bool begins)
{
	const struct event_request r = { e->site, begins };
	struct bytes b = { 0 };
	int rc;

	event_request_put(&b, &r);
	rc = b.failed ? -ENOMEM : e->order->begin(e->order->ctx, &b);
	bytes_free(&b);
	return rc;
}

struct far_events *far_events_open(const struct far_order *order, uint32_t site, char *message)
{
	struct far_events *e = calloc(1, sizeof(*e));
	int rc = -ENOMEM;

	if (e) {
		e->order = order;
		e->site = site;
		rc = ask(e, true);
	}
	if (rc == 0)
		return e;
	event_tail_error(rc, message);
	free(e);
	return NULL;
}

void far_events_close(struct far_events *e)
{
	if (e)
		e->order->cancel(e->order->ctx);
	free(e);
}

static int ended(struct far_events *e, int error, const char *why)
{
	text_clean(e->why, sizeof(e->why), why, strlen(why));
	return error;
}

/* What the answer says, and asks for the next one. */
static int answer_take(struct far_events *e, struct bytes_cursor *answer)
{
	int rc = event_copy_get(answer, &e->copy);

	if (rc == 0 && e->copy.ended && e->copy.why[0])
		return ended(e, -EIO, e->copy.why);
	if (rc == 0)
		rc = e->copy.ended ? -EIO : ask(e, false);
	if (rc == 0)
		return 1;
	event_tail_error(rc, e->why);
	return rc;
}

int far_events_update(struct far_events *e)
{
	struct far_working said;
	struct bytes_cursor answer;
	const char *why;
	int rc = e->order->take(e->order->ctx, 0, &said, &answer, &why);

	return rc > 0 ? answer_take(e, &answer) : rc < 0 ? ended(e, rc, why) : 0;
}

const char *far_events_why(const struct far_events *e)
{
	return e->why;
}

size_t far_events_lines(const struct far_events *e, const struct event_line **lines)
{
	*lines = e->copy.line;
	return e->copy.count;
}

uint64_t far_events_missed(const struct far_events *e)
{
	return e->copy.missed;
}
