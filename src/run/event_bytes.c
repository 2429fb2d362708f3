/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of a call site between machines (event_bytes.h). */
#include "src/run/event_bytes.h"

#include <errno.h>
#include <string.h>

#include "src/read/read.h"
#include "src/util/text.h"

#define NS_MAX (UINT64_MAX / 2) /* so that sums of two times are none */

void event_request_put(struct bytes *b, const struct event_request *r)
{
	bytes_number(b, r->site);
	bytes_number(b, r->begins);
}

int event_request_get(struct bytes_cursor *c, struct event_request *out)
{
	out->site = (uint32_t)bytes_read_below(c, HT_SITES_MAX - 1);
	out->begins = bytes_read_below(c, 1) != 0;
	return c->bad || c->at < c->end ? -EPROTO : 0;
}

/* ---- lines -------------------------------------------------------------------------------- */

static uint64_t first_of(const struct event_copy *e)
{
	return e->count ? e->line[0].number : 0;
}

static uint64_t next_of(const struct event_copy *e)
{
	return e->count ? e->line[e->count - 1].number + 1 : 0;
}

/* Drops lines before a number. */
static void lines_drop(struct event_copy *e, uint64_t first)
{
	uint64_t drop = first > first_of(e) ? first - first_of(e) : 0;

	if (drop > e->count)
		drop = e->count;
	e->count -= (size_t)drop;
	memmove(e->line, e->line + drop, e->count * sizeof(*e->line));
}

/* The desk's line of this number, or NULL. */
static struct event_line *line_of(struct event_copy *e, uint64_t number)
{
	return number >= first_of(e) && number < next_of(e) ? &e->line[number - first_of(e)] : NULL;
}

/* A line changes once: its block is freed. */
static bool is_new(struct event_copy *has, const struct event_line *l)
{
	const struct event_line *known = line_of(has, l->number);

	return !known || known->freed != l->freed;
}

static void line_put(struct bytes *b, const struct event_line *l)
{
	bytes_number(b, l->number);
	bytes_number(b, l->ns);
	bytes_number(b, l->slot);
	bytes_number(b, l->tid);
	bytes_number(b, l->addr);
	bytes_number(b, l->size);
	bytes_number(b, l->freed);
	if (!l->freed)
		return;
	bytes_number(b, l->freed_after_ns);
	bytes_number(b, l->freed_by);
}

static struct event_line line_get(struct bytes_cursor *c)
{
	struct event_line l = { .number = bytes_read(c), .ns = bytes_read_below(c, NS_MAX) };

	l.slot = (uint32_t)bytes_read_below(c, HT_SLOTS_MAX - 1);
	l.tid = (uint32_t)bytes_read_below(c, UINT32_MAX);
	l.addr = bytes_read(c);
	l.size = bytes_read(c);
	l.freed = bytes_read_below(c, 1) != 0;
	if (l.freed) {
		l.freed_after_ns = bytes_read_below(c, NS_MAX);
		l.freed_by = (uint32_t)bytes_read_below(c, HT_SLOTS_MAX - 1);
	}
	return l;
}

/* Adds the next line, or replaces one. False: it is neither. */
static bool line_take(struct event_copy *has, const struct event_line *l, uint64_t first)
{
	struct event_line *known = line_of(has, l->number);

	if (known) {
		*known = *l;
		return true;
	}
	if (l->number != (has->count ? next_of(has) : first) || has->count == EVENT_TAIL_LINES ||
		l->number == UINT64_MAX)
		return false;
	has->line[has->count++] = *l;
	return true;
}

/* ---- answers ------------------------------------------------------------------------------ */

bool event_copy_put(struct bytes *b, struct event_copy *has, const struct event_copy *now)
{
	bool changed = has->missed != now->missed || has->ended != now->ended;
	size_t lines = 0;

	bytes_number(b, now->missed);
	bytes_number(b, now->ended);
	if (now->ended)
		bytes_add_text(b, now->why);
	bytes_number(b, first_of(now));
	for (size_t i = 0; i < now->count; i++)
		lines += is_new(has, &now->line[i]);
	bytes_number(b, lines);
	for (size_t i = 0; i < now->count; i++)
		if (is_new(has, &now->line[i]))
			line_put(b, &now->line[i]);
	*has = *now;
	return changed || lines > 0;
}

static void why_get(struct bytes_cursor *c, char out[EVENT_TAIL_MESSAGE_MAX])
{
	size_t len = 0;
	const char *text = bytes_read_text(c, EVENT_TAIL_MESSAGE_MAX - 1, &len);

	text_clean(out, EVENT_TAIL_MESSAGE_MAX, text ? text : "", text ? len : 0);
}

int event_copy_get(struct bytes_cursor *c, struct event_copy *has)
{
	uint64_t first, lines;

	has->missed = bytes_read(c);
	has->ended = bytes_read_below(c, 1) != 0;
	if (has->ended)
		why_get(c, has->why);
	first = bytes_read(c);
	lines = bytes_read_below(c, EVENT_TAIL_LINES);
	lines_drop(has, first);
	for (; lines > 0 && !c->bad; lines--) {
		const struct event_line l = line_get(c);

		if (!c->bad && !line_take(has, &l, first))
			return -EPROTO;
	}
	return c->bad || c->at < c->end ? -EPROTO : 0;
}
