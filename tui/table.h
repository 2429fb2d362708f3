/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables other than Sites: which columns fit a width, their headers with the digits that sort by
 * them, and cells. Fitting is pure; main thread.
 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include "tui/draw.h"

#define TABLE_COLUMNS 11
#define TABLE_DIGITS  9 /* a digit sorts by each of the first; < and > by the others */
#define TABLE_NEVER   1000000 /* as a width: the column is shown only while it sorts */

struct table_column {
	const char *title;
	unsigned cells; /* 0: takes the rest */
	bool right; /* a number: right-aligned, largest first */
	int width; /* least width of the screen for it */
	const char *help;
};

struct table {
	const struct table_column *column;
	unsigned count;
	const unsigned char *shown; /* the columns left to right; NULL: in their own order */
	unsigned *off; /* bit i: column i was switched off (but for the one that takes the rest) */
};

/* What the user chose. */
struct table_order {
	unsigned sort; /* column */
	bool reverse;
	bool just_chosen; /* by the last key: a held order gives way once */
};

struct table_place {
	unsigned column;
	int x;
	unsigned cells;
};

/* The columns of a table in this width, left to right; the one that sorts is always there, in the
 * place of another if need be. `o` may be NULL. Returns how many. */
unsigned table_fit(const struct table *t, const struct table_order *o, int width,
	struct table_place out[TABLE_COLUMNS]);
/* The column whose place the one that sorts takes; -1: none. */
int table_replaced(const struct table *t, const struct table_order *o, int width);
void table_draw_head(const struct table *t, const struct table_order *o, int y, unsigned width);
/* The column whose header is at cell x, or -1. */
int table_column_at(const struct table *t, const struct table_order *o, int width, int x);
/* Draws a cell, aligned in its place. */
void table_draw_cell(const struct table *t, struct table_place place, int y, enum draw_style style,
	const char *text);
/* Is the order descending? It decides the header's arrow. */
bool table_descends(const struct table *t, const struct table_order *o);

#endif
