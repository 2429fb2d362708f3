/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work there (desk_work.h). Frames about what was asked for before the last are of no interest. */
#include "src/far/desk_work.h"

#include <errno.h>

#define SEND_MS 10000 /* a peer that takes nothing for so long is lost */

static int send(struct far_channel *line, enum far_type type, struct bytes *b)
{
	int rc = b->failed ? -ENOMEM : far_channel_send(line, type, b->data, b->len, SEND_MS);

	bytes_free(b);
	return rc;
}

int far_desk_work_begin(struct far_desk_work *w, struct far_channel *line, unsigned view,
	const struct bytes *request)
{
	struct bytes b = { 0 };
	int rc;

	bytes_free(&w->found);
	*w = (struct far_desk_work){ .kind = w->kind, .number = w->number + 1, .pace = w->pace };
	bytes_number(&b, w->kind);
	bytes_number(&b, w->number);
	bytes_number(&b, view);
	bytes_add(&b, request->data, request->len);
	rc = send(line, FAR_WORK, &b);
	w->runs = rc == 0;
	return rc;
}

int far_desk_work_cancel(struct far_desk_work *w, struct far_channel *line)
{
	struct bytes b = { 0 };

	if (w->number == 0)
		return 0;
	bytes_number(&b, w->kind);
	return send(line, FAR_CANCEL, &b);
}

static int part_ask(struct far_desk_work *w, struct far_channel *line)
{
	const struct far_part p = { w->kind, w->number, w->found.len, far_pace_ask(&w->pace) };
	struct bytes b = { 0 };
	int rc;

	far_part_put(&b, &p);
	rc = send(line, FAR_GET, &b);
	w->asked = rc == 0;
	return rc;
}

int far_desk_work_said(struct far_desk_work *w, struct far_channel *line,
	const struct far_working *said, uint64_t most)
{
	if (said->number > w->number)
		return -EPROTO;
	if (said->number != w->number || !w->runs)
		return 0;
	if (w->said.state != FAR_WORK_RUNS)
		return -EPROTO;
	w->said = *said;
	w->runs = said->state != FAR_WORK_REFUSED;
	if (said->state != FAR_WORK_ENDED)
		return 0;
	if (said->bytes == 0 || said->bytes > most)
		return said->bytes ? -EFBIG : -EPROTO;
	return part_ask(w, line);
}

int far_desk_work_part(struct far_desk_work *w, struct far_channel *line, const struct far_part *p,
	const struct bytes_cursor *c)
{
	size_t len = (size_t)(c->end - c->at);

	if (p->number > w->number)
		return -EPROTO;
	if (p->number != w->number)
		return 0;
	if (!w->asked || p->offset != w->found.len || len == 0 ||
		len > w->said.bytes - w->found.len)
		return -EPROTO;
	w->asked = false;
	far_pace_came(&w->pace, clock_monotonic_ns());
	bytes_add(&w->found, c->at, len);
	if (w->found.failed)
		return -ENOMEM;
	w->runs = w->found.len < w->said.bytes;
	return w->runs ? part_ask(w, line) : 0;
}

void far_desk_work_free(struct far_desk_work *w)
{
	bytes_free(&w->found);
}
