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

unsigned table_fit(const struct table *t, int width, struct table_place out[TABLE_COLUMNS])
{
	unsigned n = 0, used = 1, rest = 0; /* one cell for the cursor's mark */
	int x = 1;

	for (unsigned at = 0; at < t->count; at++) {
		unsigned i = t->shown ? t->shown[at] : at;

		if (width < t->column[i].width || (t->column[i].cells && *t->off >> i & 1))
			continue;
		out[n] = (struct table_place){ .column = i, .cells = table_cells(&t->column[i]) };
		if (t->column[i].cells)
			used += out[n].cells + 1;
		else
			rest = n;
		n++;
	}
	out[rest].cells = (unsigned)width > used ? (unsigned)width - used : 1;
	for (unsigned i = 0; i < n; i++) {
		out[i].x = x;
		x += (int)out[i].cells + 1;
	}
	return n;
}

struct table_place table_at(const struct table *t, int width, unsigned column)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(t, width, place);

	for (unsigned i = 0; i < n; i++)
		if (place[i].column == column)
			return place[i];
	return (struct table_place){ .column = column };
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

	snprintf(text, sizeof(text), "%u%s", p->column + 1, c->title);
	pad = c->right ? (int)p->cells - (int)strlen(text) : 0;
	draw_text(y, p->x + (pad > 0 ? pad : 0), p->cells, style, text);
	if (sorts)
		draw_text(y, p->x + (c->right ? (int)p->cells : (int)strlen(text)), 1, style,
			draw_glyph(table_descends(t, o) ? GLYPH_DOWN : GLYPH_UP));
}

void table_draw_head(const struct table *t, const struct table_order *o, int y, unsigned width)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(t, (int)width, place);

	draw_fill(y, 0, width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_title(t, o, &place[i], y);
}

int table_column_at(const struct table *t, int width, int x)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(t, width, place);

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
