/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's copy of the desk's data (shadow.h): the segment in chunks, without the empty ones. */
#include "src/far/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/far/lines.h"
#include "src/far/wire.h"
#include "src/read/copying.h"

#define CHUNK_BYTES 65536u
#define CHUNK_LINES (CHUNK_BYTES / FAR_LINE_BYTES)
#define SEND_BYTES  (FAR_FRAME_MAX / 4) /* a frame is sent when it has as much */

struct chunk {
	uint64_t word[CHUNK_BYTES / 8];
};

/* A part of the segment, or its header. */
struct part {
	uint64_t offset, bytes;
	struct chunk **chunk;
};

struct far_shadow {
	struct read_segment *segment;
	struct part part[READ_PARTS_MOST];
	unsigned parts;
	struct part head;
	struct ht_header *header;
	struct chunk now; /* as read */
	struct bytes lines;
	uint64_t next; /* of the lines in `lines` */
};

static int part_open(struct part *p, uint64_t offset, uint64_t bytes)
{
	size_t chunks = (size_t)((bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);

	*p = (struct part){ offset, bytes, calloc(chunks ? chunks : 1, sizeof(*p->chunk)) };
	return p->chunk ? 0 : -ENOMEM;
}

static void part_close(struct part *p)
{
	for (uint64_t i = 0; p->chunk && i * CHUNK_BYTES < p->bytes; i++)
		free(p->chunk[i]);
	free(p->chunk);
}

struct far_shadow *far_shadow_new(struct read_segment *s)
{
	struct far_shadow *h = calloc(1, sizeof(*h));
	struct read_part part[READ_PARTS_MOST];
	int rc;

	if (!h)
		return NULL;
	h->segment = s;
	h->header = calloc(1, HT_HEADER_BYTES);
	h->parts = read_parts(s, part);
	rc = part_open(&h->head, 0, HT_HEADER_BYTES);
	for (unsigned i = 0; i < h->parts; i++)
		rc |= part_open(&h->part[i], part[i].offset, part[i].bytes);
	if (rc == 0 && h->header)
		return h;
	far_shadow_free(h);
	return NULL;
}

void far_shadow_free(struct far_shadow *h)
{
	if (!h)
		return;
	part_close(&h->head);
	for (unsigned i = 0; i < h->parts; i++)
		part_close(&h->part[i]);
	bytes_free(&h->lines);
	free(h->header);
	free(h);
}

/* ---- one tick ---- */

struct sending {
	struct far_shadow *h;
	int (*send)(void *ctx, const struct bytes *lines);
	void *ctx;
};

static int lines_flush(const struct sending *s)
{
	struct far_shadow *h = s->h;
	int rc = h->lines.failed ? -ENOMEM : h->lines.len == 0 ? 0 : s->send(s->ctx, &h->lines);

	h->lines.len = 0;
	h->next = 0;
	return rc;
}

/* Compares `lines` lines from `first` of a chunk on with what was sent. */
static int chunk_send(
	const struct sending *s, struct part *p, uint64_t offset, const uint64_t *now, size_t bytes)
{
	struct far_shadow *h = s->h;
	struct chunk **chunk = &p->chunk[(offset - p->offset) / CHUNK_BYTES];
	size_t word = (size_t)((offset - p->offset) % CHUNK_BYTES / 8);

	if (!*chunk && !(*chunk = calloc(1, sizeof(**chunk))))
		return -ENOMEM;
	for (size_t i = 0; i < bytes / 8; i += FAR_LINE_WORDS)
		far_lines_put(&h->lines, &h->next, (offset + i * 8) / FAR_LINE_BYTES,
			&(*chunk)->word[word + i], now + i);
	return h->lines.len < SEND_BYTES && !h->lines.failed ? 0 : lines_flush(s);
}

/* [from, to) of a part, chunk by chunk. */
static int piece_send(const struct sending *s, struct part *p, uint64_t from, uint64_t to)
{
	int rc = 0;

	while (from < to && rc == 0) {
		uint64_t end = p->offset + ((from - p->offset) / CHUNK_BYTES + 1) * CHUNK_BYTES;
		size_t bytes = (size_t)((end < to ? end : to) - from);

		rc = read_bytes(s->h->segment, from, s->h->now.word, bytes);
		if (rc == 0)
			rc = chunk_send(s, p, from, s->h->now.word, bytes);
		from += bytes;
	}
	return rc;
}

static int part_send(const struct sending *s, struct part *p)
{
	uint64_t from = p->offset, to, end = p->offset + p->bytes;
	int rc = lines_flush(s); /* parts are not in the order of the file */

	while (rc == 0 && from < end) {
		rc = read_data_next(s->h->segment, &from, end, &to);
		if (rc <= 0)
			return rc;
		from = from / FAR_LINE_BYTES * FAR_LINE_BYTES;
		from = from < p->offset ? p->offset : from;
		to = (to + FAR_LINE_BYTES - 1) / FAR_LINE_BYTES * FAR_LINE_BYTES;
		rc = piece_send(s, p, from, to < end ? to : end);
		from = to;
	}
	return rc;
}

int far_shadow_send(
	struct far_shadow *h, int (*send)(void *ctx, const struct bytes *lines), void *ctx)
{
	const struct sending s = { h, send, ctx };
	int rc = read_copy_header(h->segment, h->header);

	for (unsigned i = 0; i < h->parts && rc == 0; i++)
		rc = part_send(&s, &h->part[i]);
	if (rc == 0)
		rc = read_copy_header_finish(h->segment, h->header);
	if (rc == 0)
		rc = lines_flush(&s);
	if (rc == 0)
		rc = chunk_send(&s, &h->head, 0, (const uint64_t *)(const void *)h->header,
			sizeof(*h->header) / FAR_LINE_BYTES * FAR_LINE_BYTES);
	return rc ? rc : lines_flush(&s);
}
