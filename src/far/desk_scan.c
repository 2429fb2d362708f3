/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scans there (desk_scan.h). Frames about a scan before the last are of no interest. */
#include "src/far/desk_scan.h"

#include <errno.h>

#define SEND_MS 10000 /* a peer that takes nothing for so long is lost */

static int send(struct far_channel *line, enum far_type type, struct bytes *b)
{
	int rc = b->failed ? -ENOMEM : far_channel_send(line, type, b->data, b->len, SEND_MS);

	bytes_free(b);
	return rc;
}

int far_desk_scan_begin(struct far_desk_scan *s, struct far_channel *line, unsigned view,
	const struct bytes *request)
{
	struct bytes b = { 0 };
	int rc;

	bytes_free(&s->found);
	*s = (struct far_desk_scan){ .number = s->number + 1 };
	bytes_number(&b, s->number);
	bytes_number(&b, view);
	bytes_add(&b, request->data, request->len);
	rc = send(line, FAR_SCAN, &b);
	s->runs = rc == 0;
	return rc;
}

int far_desk_scan_cancel(struct far_desk_scan *s, struct far_channel *line)
{
	return s->runs ? far_channel_send(line, FAR_CANCEL, NULL, 0, SEND_MS) : 0;
}

static int part_ask(struct far_desk_scan *s, struct far_channel *line)
{
	const struct far_part p = { s->number, s->found.len };
	struct bytes b = { 0 };
	int rc;

	far_part_put(&b, &p);
	rc = send(line, FAR_GET, &b);
	s->asked = rc == 0;
	return rc;
}

static int scanning_take(
	struct far_desk_scan *s, struct far_channel *line, struct bytes_cursor *c, uint64_t most)
{
	struct far_scanning now;
	int rc = far_scanning_get(c, &now);

	if (rc != 0 || now.number > s->number)
		return -EPROTO;
	if (now.number != s->number || !s->runs)
		return 0;
	if (s->said.state != FAR_SCAN_RUNS)
		return -EPROTO;
	s->said = now;
	s->runs = now.state != FAR_SCAN_REFUSED;
	if (now.state != FAR_SCAN_ENDED)
		return 0;
	if (now.bytes == 0 || now.bytes > most)
		return now.bytes ? -EFBIG : -EPROTO;
	return part_ask(s, line);
}

static int part_take(struct far_desk_scan *s, struct far_channel *line, struct bytes_cursor *c)
{
	struct far_part p;
	int rc = far_part_get(c, &p);
	size_t len = (size_t)(c->end - c->at);

	if (rc != 0 || p.number > s->number)
		return -EPROTO;
	if (p.number != s->number)
		return 0;
	if (!s->asked || p.offset != s->found.len || len == 0 || len > s->said.bytes - s->found.len)
		return -EPROTO;
	s->asked = false;
	bytes_add(&s->found, c->at, len);
	if (s->found.failed)
		return -ENOMEM;
	s->runs = s->found.len < s->said.bytes;
	return s->runs ? part_ask(s, line) : 0;
}

int far_desk_scan_frame(
	struct far_desk_scan *s, struct far_channel *line, const struct far_frame *f, uint64_t most)
{
	struct bytes_cursor c = { f->data, f->data + f->len, false };

	return f->type == FAR_SCANNING ? scanning_take(s, line, &c, most) : part_take(s, line, &c);
}

void far_desk_scan_free(struct far_desk_scan *s)
{
	bytes_free(&s->found);
}
