/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work for a desk (agent_work.h). The desk fetches what was found, piece by piece, so that ticks
 * come in between. */
#include "src/far/agent_work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/util/clock.h"

static int send(struct far_channel *line, enum far_type type, struct bytes *b)
{
	int rc = b->failed ? -ENOMEM : far_channel_send(line, type, b->data, b->len, -1);

	bytes_free(b);
	return rc;
}

static int say(struct far_agent_work *w, struct far_channel *line, const struct far_working *now)
{
	struct bytes b = { 0 };

	w->said = *now;
	w->said_ns = clock_monotonic_ns();
	far_working_put(&b, now);
	return send(line, FAR_WORKING, &b);
}

static int refuse(struct far_agent_work *w, struct far_channel *line, const char *why)
{
	struct far_working now = {
		.kind = w->kind, .number = w->number, .state = FAR_WORK_REFUSED
	};

	w->runs = false;
	snprintf(now.why, sizeof(now.why), "%s: %s", far_kind_none(w->kind), why);
	return say(w, line, &now);
}

static int begin(struct far_agent_work *w, struct far_channel *line, struct bytes_cursor *c)
{
	int rc;

	w->number = bytes_read(c);
	(void)bytes_read(c); /* the view */
	w->found = NULL;
	if (c->bad || (size_t)(c->end - c->at) > FAR_REQUEST_MAX)
		return -EPROTO;
	if (!w->worker)
		return refuse(w, line, "the agent may only read (there: --serve=steer)");
	if (!w->segment)
		return refuse(w, line, "this process is not shown");
	rc = w->worker->begin(w->worker->ctx, w->segment, w->pid, c->at, (size_t)(c->end - c->at));
	if (rc == -EPROTO)
		return rc;
	if (rc != 0)
		return refuse(w, line, strerror(-rc));
	w->runs = true;
	w->said = (struct far_working){ .kind = w->kind, .number = w->number };
	w->said_ns = clock_monotonic_ns();
	return 0;
}

static int part_send(struct far_agent_work *w, struct far_channel *line, struct bytes_cursor *c)
{
	struct far_part p = { .kind = w->kind };
	struct bytes b = { 0 };
	size_t have;

	p.number = bytes_read(c);
	p.offset = bytes_read(c);
	p.most = bytes_read_below(c, FAR_PIECE_MAX);
	if (c->bad)
		return -EPROTO;
	have = w->found && p.number == w->number ? w->found->len : 0;
	far_part_put(&b, &p);
	if (p.offset < have) {
		size_t left = have - (size_t)p.offset;

		bytes_add(&b, w->found->data + p.offset, left < p.most ? left : (size_t)p.most);
	}
	return send(line, FAR_FOUND, &b);
}

int far_agent_work_take(
	struct far_agent_work *w, struct far_channel *line, uint8_t type, struct bytes_cursor *c)
{
	if (type == FAR_WORK)
		return begin(w, line, c);
	if (type == FAR_GET)
		return part_send(w, line, c);
	if (w->worker)
		w->worker->cancel(w->worker->ctx);
	return 0;
}

int far_agent_work_report(struct far_agent_work *w, struct far_channel *line)
{
	struct far_working now = { .kind = w->kind, .number = w->number };

	if (!w->runs)
		return 0;
	if (w->worker->look(w->worker->ctx, &now, &w->found)) {
		w->runs = false;
		if (w->found->failed || w->found->len == 0)
			return refuse(w, line, "no memory for what it found");
		now.state = FAR_WORK_ENDED;
		now.bytes = w->found->len;
	}
	if (now.state == w->said.state && now.phase == w->said.phase &&
		now.read_bytes == w->said.read_bytes &&
		clock_monotonic_ns() < w->said_ns + FAR_ALIVE_NS)
		return 0;
	return say(w, line, &now);
}
