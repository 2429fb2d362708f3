/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that is copied (desk_file.h). */
#include "src/far/desk_file.h"

#include <errno.h>
#include <unistd.h>

#define SEND_MS 10000 /* a peer that takes nothing for so long is lost */

static int ended(struct far_desk_file *f, int result)
{
	f->result = result;
	return 0;
}

static int piece_ask(struct far_desk_file *f, struct far_channel *line)
{
	const struct far_piece p = { f->view, f->module, f->offset, far_pace_ask(&f->pace) };
	struct bytes b = { 0 };
	int rc;

	far_piece_put(&b, &p);
	rc = b.failed ? -ENOMEM : far_channel_send(line, FAR_FILE, b.data, b.len, SEND_MS);
	bytes_free(&b);
	f->asked += rc == 0;
	return rc;
}

/* Answers come in order: one that others follow is of a file that was given up. */
int far_desk_file_piece(struct far_desk_file *f, struct far_channel *line, struct bytes_cursor *c)
{
	struct far_piece p;
	int rc = far_piece_get(c, &p);
	size_t len = (size_t)(c->end - c->at);

	if (rc != 0 || f->asked == 0)
		return -EPROTO;
	if (--f->asked > 0 || f->result != 1)
		return 0;
	if (p.view != f->view || p.module != f->module || p.offset != f->offset)
		return -EPROTO;
	if (p.bytes == 0 || p.bytes > f->most)
		return ended(f, p.bytes ? -EFBIG : -ENOENT);
	f->bytes = f->bytes ? f->bytes : p.bytes;
	if (len == 0 || f->offset + len > f->bytes)
		return ended(f, -EIO);
	if (pwrite(f->fd, c->at, len, (off_t)f->offset) != (ssize_t)len)
		return ended(f, -ENOSPC);
	f->offset += len;
	far_pace_came(&f->pace, clock_monotonic_ns());
	return f->offset == f->bytes ? ended(f, 0) : piece_ask(f, line);
}

int far_desk_file_begin(
	struct far_desk_file *f, struct far_channel *line, const struct far_desk_file *wanted)
{
	unsigned asked = f->asked;
	struct far_pace pace = f->pace;

	*f = *wanted;
	f->pace = pace;
	f->asked = asked;
	f->result = 1;
	return piece_ask(f, line);
}

void far_desk_file_end(struct far_desk_file *f)
{
	if (f->result == 1)
		f->result = -ECANCELED;
	f->fd = -1;
}
