/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns and headers of tables (table.h). Called for each frame by the views that are tables, on
 * the main thread.
 */
#include "tui/table.h"

#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "tui/draw.h"

/* A column is at least as wide as its header, a digit and the title. */
static unsigned table_cells(const struct table_column *c)
{
	unsigned title = (unsigned)strlen(c->title) + 1;

	return c->cells > title ? c->cells : title;
}

#define REST_LEAST 14 /* cells of the column that takes the rest; below, another goes first */

/* Which columns are shown: bit i is column i. */
static unsigned table_usual(const struct table *t, int width)
{
	unsigned shown = 0;

	for (unsigned i = 0; i < t->count; i++)
		if (width >= t->column[i].width && !(t->column[i].cells && *t->off >> i & 1))
			shown |= 1u << i;
	return shown;
}

static int table_rest(const struct table *t, unsigned shown, int width)
{
	int rest = width - 1; /* one cell for the cursor's mark */

	for (unsigned i = 0; i < t->count; i++)
		if (shown >> i & 1 && t->column[i].cells)
			rest -= (int)table_cells(&t->column[i]) + 1;
	return rest;
}

/* The column that needs the widest screen, but for `keep`, the first, and the one that takes the
 * rest; -1: none. */
static int table_last(const struct table *t, unsigned shown, unsigned keep)
{
	int last = -1;

	for (unsigned i = 1; i < t->count; i++)
		if (shown >> i & 1 && i != keep && t->column[i].cells &&
			(last < 0 || t->column[i].width >= t->column[last].width))
			last = (int)i;
	return last;
}

static unsigned table_shown(const struct table *t, const struct table_order *o, int width)
{
	unsigned shown = table_usual(t, width);
	int rest = table_rest(t, shown, width), last;

	if (!o || o->sort >= t->count || shown >> o->sort & 1)
		return shown;
	shown |= 1u << o->sort;
	rest = rest > REST_LEAST ? rest : REST_LEAST;
	while (table_rest(t, shown, width) < rest && (last = table_last(t, shown, o->sort)) >= 0)
		shown &= ~(1u << last);
	return shown;
}

unsigned table_fit(const struct table *t, const struct table_order *o, int width,
	struct table_place out[TABLE_COLUMNS])
{
	unsigned n = 0, shown = table_shown(t, o, width);
	int x = 1, rest = table_rest(t, shown, width);

	for (unsigned at = 0; at < t->count; at++) {
		unsigned i = t->shown ? t->shown[at] : at;

		if (!(shown >> i & 1))
			continue;
		out[n] = (struct table_place){ .column = i, .x = x };
		out[n].cells = t->column[i].cells ? table_cells(&t->column[i])
			       : rest > 0	  ? (unsigned)rest
						  : 1;
		x += (int)out[n++].cells + 1;
	}
	return n;
}

int table_replaced(const struct table *t, const struct table_order *o, int width)
{
	unsigned gone = table_usual(t, width) & ~table_shown(t, o, width);

	for (unsigned i = t->count; i-- > 0;)
		if (gone >> i & 1)
			return (int)i;
	return -1;
}

bool table_descends(const struct table *t, const struct table_order *o)
{
	return t->column[o->sort].right != o->reverse;
}

static void table_draw_title(
	const struct table *t, const struct table_order *o, const struct table_place *p, int y)
{
	const struct table_column *c = &t->column[p->column];
	bool sorts = p->column == o->sort;
	enum draw_style style = sorts ? STYLE_HEAD_SORT : STYLE_HEAD;
	char text[64];
	int pad;

	if (p->column < TABLE_DIGITS)
		snprintf(text, sizeof(text), "%u%s", p->column + 1, c->title);
	else
		snprintf(text, sizeof(text), "%s", c->title);
	pad = c->right ? (int)p->cells - (int)strlen(text) : 0;
	draw_text(y, p->x + (pad > 0 ? pad : 0), p->cells, style, text);
	if (sorts)
		draw_text(y, p->x + (c->right ? (int)p->cells : (int)strlen(text)), 1, style,
			draw_glyph(table_descends(t, o) ? GLYPH_DOWN : GLYPH_UP));
}

void table_draw_head(const struct table *t, const struct table_order *o, int y, unsigned width)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(t, o, (int)width, place);

	draw_fill(y, 0, width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_title(t, o, &place[i], y);
}

int table_column_at(const struct table *t, const struct table_order *o, int width, int x)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(t, o, width, place);

	for (unsigned i = 0; i < n; i++)
		if (x >= place[i].x && x <= place[i].x + (int)place[i].cells)
			return (int)place[i].column;
	return -1;
}

void table_draw_cell(const struct table *t, struct table_place place, int y, enum draw_style style,
	const char *text)
{
	unsigned used = (unsigned)text_cells(text);
	int pad =
		t->column[place.column].right && used < place.cells ? (int)(place.cells - used) : 0;

	draw_text(y, place.x + pad, place.cells, style, text);
}
