/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fitting a line of facts into a width. Called by the header and the views for each line of that
 * kind, on the main thread; the fitting itself is pure and tested without a screen.
 */
#include "tui/infoline.h"

#include <stdarg.h>
#include <stdio.h>
#include "src/util/text.h"

/* A piece of text that is cut short is a wide one, and would be cut when it is drawn. */
__attribute__((format(printf, 2, 0))) static const char *strip_print(
	struct strip *s, const char *fmt, va_list ap)
{
	char *at = s->text + s->text_bytes;
	size_t room = sizeof(s->text) - s->text_bytes;
	size_t most = room < STRIP_TEXT ? room : STRIP_TEXT;
	int len = vsnprintf(at, most, fmt, ap);
	size_t used = len > 0 ? (size_t)len + 1 : 1;

	s->text_bytes += used < most ? used : most;
	if (s->text_bytes == sizeof(s->text)) /* full: what comes later is empty */
		s->text_bytes--;
	return at;
}

__attribute__((format(printf, 4, 0))) static struct strip_piece *strip_add(
	struct strip *s, unsigned rank, enum ink ink, const char *fmt, va_list ap)
{
	static struct strip_piece spare; /* takes what is too much */
	struct strip_piece *p = s->count < STRIP_PIECES ? &s->piece[s->count++] : &spare;

	*p = (struct strip_piece){
		.text = strip_print(s, fmt, ap), .rank = rank, .ink = ink, .gap = STRIP_GAP
	};
	p->cells = p->least = (unsigned)text_cells(p->text);
	return p;
}

void strip_left(struct strip *s, unsigned rank, enum ink ink, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strip_add(s, rank, ink, fmt, ap);
	va_end(ap);
}

void strip_right(struct strip *s, unsigned rank, enum ink ink, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strip_add(s, rank, ink, fmt, ap)->right = true;
	va_end(ap);
}

void strip_join(struct strip *s, enum ink ink, const char *fmt, ...)
{
	struct strip_piece *p;
	bool right = s->count && s->piece[s->count - 1].right;
	unsigned rank = s->count ? s->piece[s->count - 1].rank : 0;
	va_list ap;

	va_start(ap, fmt);
	p = strip_add(s, rank, ink, fmt, ap);
	va_end(ap);
	p->joined = true;
	p->gap = 0;
	p->right = right;
}

void strip_elastic(struct strip *s, unsigned least)
{
	struct strip_piece *p = s->count ? &s->piece[s->count - 1] : NULL;

	if (p && least < p->cells)
		p->least = least;
}

void strip_tight(struct strip *s)
{
	if (s->count)
		s->piece[s->count - 1].gap = 1;
}

/* Cells of all that is left, with elastic pieces as they are or as short as they may be. */
static unsigned strip_cells(const struct strip *s, bool least)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < s->count; i++) {
		const struct strip_piece *p = &s->piece[i];

		if (p->dropped)
			continue;
		sum += (least ? p->least : p->cells) + (sum ? p->gap : 0);
	}
	return sum;
}

/* Marks a piece and what is joined to it. */
static void strip_mark(struct strip *s, unsigned at, bool dropped)
{
	s->piece[at].dropped = dropped;
	for (unsigned i = at + 1; i < s->count && s->piece[i].joined; i++)
		s->piece[i].dropped = dropped;
}

/* The highest rank (of equals the first) that was not tried, or STRIP_PIECES. */
static unsigned strip_next(const struct strip *s, const bool tried[STRIP_PIECES])
{
	unsigned best = STRIP_PIECES;

	for (unsigned i = 0; i < s->count; i++)
		if (!s->piece[i].joined && !tried[i] &&
			(best == STRIP_PIECES || s->piece[i].rank > s->piece[best].rank))
			best = i;
	return best;
}

/* Gives elastic pieces what is left over; elastic ones are few, so the first takes it. */
static void strip_shrink(struct strip *s, unsigned cells)
{
	unsigned over = strip_cells(s, false);

	over = over > cells ? over - cells : 0;
	for (unsigned i = 0; i < s->count && over; i++) {
		struct strip_piece *p = &s->piece[i];
		unsigned give = p->cells - p->least;

		if (p->dropped)
			continue;
		if (give > over)
			give = over;
		p->cells -= give;
		over -= give;
	}
}

/* Takes pieces by rank, each if it still fits: a small fact may stay where a large one could not.
 */
unsigned strip_fit(struct strip *s, unsigned cells)
{
	bool tried[STRIP_PIECES] = { false };
	unsigned at;

	for (unsigned i = 0; i < s->count; i++)
		s->piece[i].dropped = true;
	while ((at = strip_next(s, tried)) != STRIP_PIECES) {
		tried[at] = true;
		strip_mark(s, at, false);
		if (strip_cells(s, true) > cells)
			strip_mark(s, at, true);
	}
	strip_shrink(s, cells);
	return strip_cells(s, false);
}

static unsigned strip_side_cells(const struct strip *s, bool right)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < s->count; i++) {
		const struct strip_piece *p = &s->piece[i];

		if (!p->dropped && p->right == right)
			sum += p->cells + (sum ? p->gap : 0);
	}
	return sum;
}

static void strip_draw_side(const struct strip *s, bool right, int y, int x)
{
	char cut[STRIP_TEXT];
	bool first = true;

	for (unsigned i = 0; i < s->count; i++) {
		const struct strip_piece *p = &s->piece[i];

		if (p->dropped || p->right != right)
			continue;
		x += first ? 0 : (int)p->gap;
		text_elide(cut, sizeof(cut), p->text, p->cells, false, ink_ascii());
		ink_text(y, x, p->cells, p->ink, cut);
		x += (int)p->cells;
		first = false;
	}
}

void strip_draw(struct strip *s, int y, int x, unsigned cells)
{
	if (y < 0)
		return;
	strip_fit(s, cells);
	strip_draw_side(s, false, y, x);
	strip_draw_side(s, true, y, x + (int)(cells - strip_side_cells(s, true)));
}
