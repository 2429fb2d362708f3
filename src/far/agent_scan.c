/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scans for a desk (agent_scan.h). The desk fetches a result piece by piece, so that ticks can be
 * sent in between. */
#include "src/far/agent_scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int send(struct far_channel *line, enum far_type type, struct bytes *b)
{
	int rc = b->failed ? -ENOMEM : far_channel_send(line, type, b->data, b->len, -1);

	bytes_free(b);
	return rc;
}

static int say(struct far_agent_scan *s, struct far_channel *line, const struct far_scanning *now)
{
	struct bytes b = { 0 };

	s->said = *now;
	far_scanning_put(&b, now);
	return send(line, FAR_SCANNING, &b);
}

static int refuse(struct far_agent_scan *s, struct far_channel *line, const char *why)
{
	struct far_scanning now = { .number = s->number, .state = FAR_SCAN_REFUSED };

	s->runs = false;
	snprintf(now.why, sizeof(now.why), "no leak scan: %s", why);
	return say(s, line, &now);
}

static int begin(struct far_agent_scan *s, struct far_channel *line, struct bytes_cursor *c)
{
	int rc;

	s->number = bytes_read(c);
	(void)bytes_read(c); /* the view */
	s->found = NULL;
	if (c->bad || (size_t)(c->end - c->at) > FAR_REQUEST_MAX)
		return -EPROTO;
	if (!s->steer)
		return refuse(s, line, "the agent may only read (there: --serve=steer)");
	if (!s->path)
		return refuse(s, line, "this process is not shown");
	rc = s->steer->begin(s->steer->ctx, s->path, s->pid, c->at, (size_t)(c->end - c->at));
	if (rc == -EPROTO)
		return rc;
	if (rc != 0)
		return refuse(s, line, strerror(-rc));
	s->runs = true;
	s->said = (struct far_scanning){ .number = s->number };
	return 0;
}

static int part_send(struct far_agent_scan *s, struct far_channel *line, struct bytes_cursor *c)
{
	struct bytes b = { 0 };
	struct far_part p;
	size_t have;
	int rc = far_part_get(c, &p);

	if (rc != 0)
		return rc;
	have = s->found && p.number == s->number ? s->found->len : 0;
	far_part_put(&b, &p);
	if (p.offset < have) {
		size_t left = have - (size_t)p.offset;

		bytes_add(
			&b, s->found->data + p.offset, left < FAR_PIECE_MAX ? left : FAR_PIECE_MAX);
	}
	return send(line, FAR_FOUND, &b);
}

int far_agent_scan_take(
	struct far_agent_scan *s, struct far_channel *line, const struct far_frame *f)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };

	if (f->type == FAR_SCAN)
		return begin(s, line, &c);
	if (f->type == FAR_GET)
		return part_send(s, line, &c);
	if (s->runs)
		s->steer->cancel(s->steer->ctx);
	return 0;
}

int far_agent_scan_report(struct far_agent_scan *s, struct far_channel *line)
{
	struct far_scanning now = { .number = s->number };

	if (!s->runs)
		return 0;
	if (s->steer->look(s->steer->ctx, &now, &s->found)) {
		s->runs = false;
		if (s->found->failed || s->found->len == 0)
			return refuse(s, line, "no memory for the scan's result");
		now.state = FAR_SCAN_ENDED;
		now.bytes = s->found->len;
	}
	if (now.state == s->said.state && now.phase == s->said.phase &&
		now.read_bytes == s->said.read_bytes)
		return 0;
	return say(s, line, &now);
}
