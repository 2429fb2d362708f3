/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames as numbers and texts (wire.h). Pure. */
#include "src/far/wire.h"

#include <errno.h>

#include "src/util/text.h"

static void text_get(struct bytes_cursor *c, char out[FAR_TEXT_MAX])
{
	size_t len = 0;
	const char *text = bytes_read_text(c, FAR_TEXT_MAX - 1, &len);

	text_clean(out, FAR_TEXT_MAX, text ? text : "", text ? len : 0);
}

/* What a later protocol adds at the end is ignored. */
static int checked(const struct bytes_cursor *c)
{
	return c->bad ? -EPROTO : 0;
}

void far_hello_put(struct bytes *b, const struct far_hello *h)
{
	bytes_number(b, h->protocol);
	bytes_number(b, h->signature);
	bytes_number(b, h->order);
	bytes_number(b, h->page_bytes);
	bytes_number(b, h->segment_bytes);
	bytes_number(b, h->sends_files);
	bytes_add_text(b, h->version);
	bytes_add_text(b, h->machine);
	bytes_add_text(b, h->host);
	bytes_number(b, h->steers);
}

int far_hello_get(struct bytes_cursor *c, struct far_hello *h)
{
	*h = (struct far_hello){ .protocol = bytes_read(c) };
	h->signature = bytes_read(c);
	h->order = bytes_read(c);
	h->page_bytes = bytes_read(c);
	h->segment_bytes = bytes_read(c);
	h->sends_files = bytes_read(c) != 0;
	text_get(c, h->version);
	text_get(c, h->machine);
	text_get(c, h->host);
	h->steers = c->at < c->end && bytes_read(c) != 0; /* not in the first protocol */
	return checked(c);
}

void far_tick_put(struct bytes *b, const struct far_tick *t)
{
	bytes_number(b, t->monotonic_ns);
	bytes_number(b, t->alive);
	bytes_number(b, t->replaced);
	bytes_number(b, t->next);
	bytes_number(b, t->agent_cpu_ns);
	bytes_number(b, t->agent_rss);
	bytes_add_text(b, t->children);
}

int far_tick_get(struct bytes_cursor *c, struct far_tick *t)
{
	t->monotonic_ns = bytes_read(c);
	t->alive = bytes_read(c) != 0;
	t->replaced = bytes_read(c) != 0;
	t->next = bytes_read(c) != 0;
	t->agent_cpu_ns = bytes_read(c);
	t->agent_rss = bytes_read(c);
	text_get(c, t->children);
	return checked(c);
}

void far_piece_put(struct bytes *b, const struct far_piece *p)
{
	bytes_number(b, p->module);
	bytes_number(b, p->offset);
	bytes_number(b, p->bytes);
}

int far_piece_get(struct bytes_cursor *c, struct far_piece *p)
{
	p->module = bytes_read(c);
	p->offset = bytes_read(c);
	p->bytes = bytes_read(c);
	return checked(c);
}

void far_scanning_put(struct bytes *b, const struct far_scanning *s)
{
	bytes_number(b, s->number);
	bytes_number(b, s->state);
	bytes_number(b, s->phase);
	bytes_number(b, s->read_bytes);
	bytes_number(b, s->bytes);
	bytes_add_text(b, s->why);
}

int far_scanning_get(struct bytes_cursor *c, struct far_scanning *s)
{
	s->number = bytes_read(c);
	s->state = (enum far_scan_state)bytes_read_below(c, FAR_SCAN_REFUSED);
	s->phase = bytes_read(c);
	s->read_bytes = bytes_read(c);
	s->bytes = bytes_read(c);
	text_get(c, s->why);
	return checked(c);
}

void far_part_put(struct bytes *b, const struct far_part *p)
{
	bytes_number(b, p->number);
	bytes_number(b, p->offset);
}

int far_part_get(struct bytes_cursor *c, struct far_part *p)
{
	p->number = bytes_read(c);
	p->offset = bytes_read(c);
	return checked(c);
}
