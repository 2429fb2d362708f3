/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of items (infoline.h). Called by the header and the views, on the main thread; the fitting
 * is pure and tested without a screen.
 */
#include "tui/infoline.h"

#include <stdarg.h>
#include <stdio.h>
#include "src/util/text.h"
#include "tui/draw.h"

/* An item this long is truncated here, as it would be when drawn. */
__attribute__((format(printf, 2, 0))) static const char *infoline_print(
	struct infoline *s, const char *fmt, va_list ap)
{
	char *at = s->text + s->text_bytes;
	size_t room = sizeof(s->text) - s->text_bytes;
	size_t most = room < INFOLINE_TEXT ? room : INFOLINE_TEXT;
	int len = vsnprintf(at, most, fmt, ap);
	size_t used = len > 0 ? (size_t)len + 1 : 1;

	s->text_bytes += used < most ? used : most;
	if (s->text_bytes == sizeof(s->text)) /* full: later items are empty */
		s->text_bytes--;
	return at;
}

__attribute__((format(printf, 4, 0))) static struct infoline_item *infoline_add(
	struct infoline *s, unsigned priority, enum draw_style style, const char *fmt, va_list ap)
{
	static struct infoline_item spare; /* takes the items that are too many */
	struct infoline_item *p = s->count < INFOLINE_ITEMS ? &s->item[s->count++] : &spare;

	*p = (struct infoline_item){ .text = infoline_print(s, fmt, ap),
		.priority = priority,
		.style = style,
		.gap = INFOLINE_GAP };
	p->cells = p->least = (unsigned)text_cells(p->text);
	return p;
}

void infoline_left(
	struct infoline *s, unsigned priority, enum draw_style style, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	infoline_add(s, priority, style, fmt, ap);
	va_end(ap);
}

void infoline_right(
	struct infoline *s, unsigned priority, enum draw_style style, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	infoline_add(s, priority, style, fmt, ap)->right = true;
	va_end(ap);
}

void infoline_join(struct infoline *s, enum draw_style style, const char *fmt, ...)
{
	struct infoline_item *p;
	bool right = s->count && s->item[s->count - 1].right;
	unsigned priority = s->count ? s->item[s->count - 1].priority : 0;
	va_list ap;

	va_start(ap, fmt);
	p = infoline_add(s, priority, style, fmt, ap);
	va_end(ap);
	p->joined = true;
	p->gap = 0;
	p->right = right;
}

void infoline_elastic(struct infoline *s, unsigned least)
{
	struct infoline_item *p = s->count ? &s->item[s->count - 1] : NULL;

	if (p && least < p->cells)
		p->least = least;
}

void infoline_tight(struct infoline *s)
{
	if (s->count)
		s->item[s->count - 1].gap = 1;
}

void infoline_modest(struct infoline *s)
{
	if (s->count)
		s->item[s->count - 1].modest = true;
}

/* Cells of the items kept, with elastic ones of each side at full or at least width. */
static unsigned infoline_cells(const struct infoline *s, bool left_least, bool right_least)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < s->count; i++) {
		const struct infoline_item *p = &s->item[i];

		if (p->dropped)
			continue;
		sum += ((p->right ? right_least : left_least) ? p->least : p->cells) +
		       (sum ? p->gap : 0);
	}
	return sum;
}

/* Drops or keeps an item and those joined to it. */
static void infoline_mark(struct infoline *s, unsigned at, bool dropped)
{
	s->item[at].dropped = dropped;
	for (unsigned i = at + 1; i < s->count && s->item[i].joined; i++)
		s->item[i].dropped = dropped;
}

/* The item of the highest priority not tried yet, the first of equals; or INFOLINE_ITEMS. */
static unsigned infoline_next(const struct infoline *s, const bool tried[INFOLINE_ITEMS])
{
	unsigned best = INFOLINE_ITEMS;

	for (unsigned i = 0; i < s->count; i++)
		if (!s->item[i].joined && !tried[i] &&
			(best == INFOLINE_ITEMS || s->item[i].priority > s->item[best].priority))
			best = i;
	return best;
}

/* Shortens elastic items until the line fits, the first one first. */
static void infoline_shrink(struct infoline *s, unsigned cells)
{
	unsigned over = infoline_cells(s, false, false);

	over = over > cells ? over - cells : 0;
	for (unsigned i = 0; i < s->count && over; i++) {
		struct infoline_item *p = &s->item[i];
		unsigned give = p->cells - p->least;

		if (p->dropped)
			continue;
		if (give > over)
			give = over;
		p->cells -= give;
		over -= give;
	}
}

/* Takes items by priority, each if it still fits: a short item may stay where a long one did not
 * fit. */
unsigned infoline_fit(struct infoline *s, unsigned cells)
{
	bool tried[INFOLINE_ITEMS] = { false };
	unsigned at;

	for (unsigned i = 0; i < s->count; i++)
		s->item[i].dropped = true;
	while ((at = infoline_next(s, tried)) != INFOLINE_ITEMS) {
		tried[at] = true;
		infoline_mark(s, at, false);
		if (infoline_cells(s, !s->item[at].modest, true) > cells)
			infoline_mark(s, at, true);
	}
	infoline_shrink(s, cells);
	return infoline_cells(s, false, false);
}

static unsigned infoline_side_cells(const struct infoline *s, bool right)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < s->count; i++) {
		const struct infoline_item *p = &s->item[i];

		if (!p->dropped && p->right == right)
			sum += p->cells + (sum ? p->gap : 0);
	}
	return sum;
}

static void infoline_draw_side(const struct infoline *s, bool right, int y, int x)
{
	char cut[INFOLINE_TEXT];
	bool first = true;

	for (unsigned i = 0; i < s->count; i++) {
		const struct infoline_item *p = &s->item[i];

		if (p->dropped || p->right != right)
			continue;
		x += first ? 0 : (int)p->gap;
		text_elide(cut, sizeof(cut), p->text, p->cells, false, draw_is_ascii());
		draw_text(y, x, p->cells, p->style, cut);
		x += (int)p->cells;
		first = false;
	}
}

void infoline_draw(struct infoline *s, int y, int x, unsigned cells)
{
	if (y < 0)
		return;
	infoline_fit(s, cells);
	infoline_draw_side(s, false, y, x);
	infoline_draw_side(s, true, y, x + (int)(cells - infoline_side_cells(s, true)));
}
