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
	bytes_number(b, h->view);
	bytes_number(b, h->exits);
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
	h->steers = c->at < c->end && bytes_read(c) != 0; /* not in the first protocol, */
	h->view = c->at < c->end ? bytes_read_below(c, FAR_VIEWS - 1) : 0; /* nor the second, */
	h->exits = c->at < c->end && bytes_read(c) != 0; /* nor the third */
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
	bytes_number(b, p->view);
	bytes_number(b, p->module);
	bytes_number(b, p->offset);
	bytes_number(b, p->bytes);
}

int far_piece_get(struct bytes_cursor *c, struct far_piece *p)
{
	p->view = bytes_read_below(c, FAR_VIEWS - 1);
	p->module = bytes_read(c);
	p->offset = bytes_read(c);
	p->bytes = bytes_read(c);
	return checked(c);
}

void far_working_put(struct bytes *b, const struct far_working *s)
{
	bytes_number(b, s->kind);
	bytes_number(b, s->number);
	bytes_number(b, s->state);
	bytes_number(b, s->phase);
	bytes_number(b, s->read_bytes);
	bytes_number(b, s->bytes);
	bytes_add_text(b, s->why);
}

int far_working_get(struct bytes_cursor *c, struct far_working *s)
{
	s->kind = (enum far_kind)bytes_read_below(c, FAR_KINDS - 1);
	s->number = bytes_read(c);
	s->state = (enum far_work_state)bytes_read_below(c, FAR_WORK_REFUSED);
	s->phase = bytes_read(c);
	s->read_bytes = bytes_read(c);
	s->bytes = bytes_read(c);
	text_get(c, s->why);
	return checked(c);
}

void far_part_put(struct bytes *b, const struct far_part *p)
{
	bytes_number(b, p->kind);
	bytes_number(b, p->number);
	bytes_number(b, p->offset);
	bytes_number(b, p->most);
}

int far_part_get(struct bytes_cursor *c, struct far_part *p)
{
	p->kind = (enum far_kind)bytes_read_below(c, FAR_KINDS - 1);
	p->number = bytes_read(c);
	p->offset = bytes_read(c);
	p->most = bytes_read_below(c, FAR_PIECE_MAX);
	return checked(c);
}

int far_kind_get(struct bytes_cursor *c, enum far_kind *kind)
{
	*kind = (enum far_kind)bytes_read_below(c, FAR_KINDS - 1);
	return checked(c);
}

bool far_kind_acts(enum far_kind kind)
{
	return kind == FAR_LEAKS || kind == FAR_CONTENTS;
}

const char *far_kind_none(enum far_kind kind)
{
	static const char *const none[FAR_KINDS] = { [FAR_LEAKS] = "no leak scan",
		[FAR_MAP] = "no memory map",
		[FAR_CONTENTS] = "no contents of blocks",
		[FAR_WALKS] = "no ages and threads of live blocks",
		[FAR_EVENTS] = "no events" };

	return none[kind];
}

int far_number_get(struct bytes_cursor *c, unsigned *view)
{
	*view = (unsigned)bytes_read_below(c, FAR_VIEWS - 1);
	return checked(c);
}

void far_choice_put(struct bytes *b, const struct far_choice *o)
{
	bytes_number(b, o->view);
	bytes_number(b, o->id);
	bytes_add_text(b, o->why);
}

int far_choice_get(struct bytes_cursor *c, struct far_choice *o)
{
	o->view = bytes_read_below(c, FAR_VIEWS - 1);
	o->id = bytes_read(c);
	text_get(c, o->why);
	return o->view == 0 ? -EPROTO : checked(c);
}

static void row_put(struct bytes *b, const struct far_row *r)
{
	bytes_number(b, r->id);
	bytes_number(b, r->pid);
	bytes_number(b, r->parent);
	bytes_number(b, (unsigned char)r->state);
	bytes_number(b, r->has_live);
	bytes_number(b, r->has_rss);
	bytes_number(b, r->live_bytes);
	bytes_number(b, r->peak_bytes);
	bytes_number(b, r->rss_bytes);
	bytes_add_text(b, r->command);
	bytes_add_text(b, r->why);
}

static int row_get(struct bytes_cursor *c, struct far_row *r)
{
	r->id = bytes_read(c);
	r->pid = bytes_read_below(c, INT32_MAX);
	r->parent = bytes_read_below(c, INT32_MAX);
	r->state = (char)bytes_read_below(c, 127);
	r->has_live = bytes_read(c) != 0;
	r->has_rss = bytes_read(c) != 0;
	r->live_bytes = bytes_read(c);
	r->peak_bytes = bytes_read(c);
	r->rss_bytes = bytes_read(c);
	text_get(c, r->command);
	text_get(c, r->why);
	return r->id == 0 ? -EPROTO : checked(c);
}

void far_rows_put(struct bytes *b, const struct far_row *rows, size_t count, uint64_t more)
{
	bytes_number(b, count);
	bytes_number(b, more);
	for (size_t i = 0; i < count; i++)
		row_put(b, &rows[i]);
}

int far_rows_get(struct bytes_cursor *c, struct far_row *rows, size_t *count, uint64_t *more)
{
	size_t n = bytes_read_below(c, FAR_ROWS_MAX);
	uint64_t others = bytes_read_below(c, UINT32_MAX);
	int rc = checked(c);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = row_get(c, &rows[i]);
	if (rc != 0)
		return rc;
	*count = n;
	*more = others;
	return 0;
}
