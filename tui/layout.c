/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows and columns by the size of the screen (layout.h). Called before each frame, by ui.c and the
 * site table; pure.
 */
#include "tui/layout.h"

#include <string.h>

/* The least height at which a row is shown; the body gets the remaining lines. */
static const struct {
	int height; /* least screen height */
	unsigned unless; /* flags that hide it */
	unsigned only; /* flags it needs */
} row_table[ROW_COUNT] = {
	[ROW_TITLE] = { 0, LAYOUT_NO_HEADER, 0 },
	[ROW_LIVE] = { 0, LAYOUT_NO_HEADER, 0 },
	[ROW_RSS] = { 12, LAYOUT_NO_HEADER | LAYOUT_COMPACT, 0 },
	[ROW_OPS] = { 14, LAYOUT_NO_HEADER | LAYOUT_COMPACT, 0 },
	[ROW_HISTORY] = { 18, LAYOUT_NO_HEADER | LAYOUT_COMPACT, 0 },
	[ROW_NOTICE] = { 0, 0, LAYOUT_NOTICE },
	[ROW_TABS] = { 0, 0, 0 },
	[ROW_HEAD] = { 0, LAYOUT_NO_HEAD, 0 },
	[ROW_BODY] = { 0, 0, 0 },
	[ROW_STATUS] = { 16, 0, 0 },
	[ROW_HINT] = { 20, 0, 0 },
	[ROW_MESSAGE] = { 0, 0, 0 },
	[ROW_BAR] = { 10, 0, 0 },
};

#define ELSEWHERE_HEIGHT 14 /* from this height on, the time line is shown in every view */

static bool row_shown(enum layout_row row, int height, unsigned flags)
{
	if (row == ROW_HISTORY && flags & LAYOUT_TIMELINE && flags & LAYOUT_ELSEWHERE)
		return height >= ELSEWHERE_HEIGHT && !(flags & LAYOUT_NO_HEADER);
	return height >= row_table[row].height && !(flags & row_table[row].unless) &&
	       (flags & row_table[row].only) == row_table[row].only;
}

/* A time line of several lines begins at 30: 24 lines are needed for the table. */
static int history_lines(int height, unsigned flags)
{
	static const struct {
		int height, lines;
	} steps[] = { { 50, 6 }, { 42, 5 }, { 36, 4 }, { 30, 3 } };

	for (size_t i = 0; flags & LAYOUT_TIMELINE && !(flags & LAYOUT_COMPACT) && i < 4; i++)
		if (height >= steps[i].height)
			return steps[i].lines;
	return 1;
}

static int row_lines(enum layout_row row, int height, unsigned flags)
{
	return row == ROW_HISTORY ? history_lines(height, flags) : 1;
}

void layout_make(struct layout *l, int width, int height, unsigned flags)
{
	int used = 0, y = 0;

	*l = (struct layout){ .width = width, .height = height };
	for (int row = 0; row < ROW_COUNT; row++)
		l->y[row] = -1;
	l->tiny = width < LAYOUT_MIN_WIDTH || height < LAYOUT_MIN_HEIGHT;
	if (l->tiny)
		return;
	for (enum layout_row row = 0; row < ROW_COUNT; row++)
		if (row != ROW_BODY && row_shown(row, height, flags))
			used += row_lines(row, height, flags);
	l->body_height = height - used;
	for (enum layout_row row = 0; row < ROW_COUNT; row++) {
		if (!row_shown(row, height, flags))
			continue;
		l->y[row] = y;
		y += row == ROW_BODY ? l->body_height : row_lines(row, height, flags);
	}
	if (l->y[ROW_HISTORY] >= 0)
		l->history_height = row_lines(ROW_HISTORY, height, flags);
}

#define NEVER	1000000
#define GROUPED 48 /* from this width on, groups show their number of sites */

/* In display order, with the least screen width for each. */
static const struct {
	enum column column;
	int width;
	int sampled_width; /* with the errors of sampling */
} column_order[] = {
	{ COL_LIVE, 0, 0 },
	{ COL_ERROR, NEVER, 48 },
	{ COL_PERCENT, 70, 70 },
	{ COL_RATE, 0, 0 },
	{ COL_BEFORE, 92, 92 },
	{ COL_AFTER, 60, 60 },
	{ COL_DELTA, 0, 0 },
	{ COL_SINCE, 0, 0 },
	{ COL_SINCE_BLOCKS, 110, 110 },
	{ COL_SINCE_ALLOC, 124, 124 },
	{ COL_SINCE_FREED, 124, 124 },
	{ COL_KEPT, 46, 46 },
	{ COL_TREND, 78, 88 },
	{ COL_BLOCKS, 54, 54 },
	{ COL_AVG, 100, 100 },
	{ COL_PEAK, 132, 132 },
	{ COL_AT_PEAK, 158, 158 },
	{ COL_AT_PEAK_SHARE, 166, 166 },
	{ COL_ALLOCS, 140, 140 },
	{ COL_TEMP, 150, 150 },
	{ COL_AGE, 90, 100 },
	{ COL_SITES, GROUPED, GROUPED },
	{ COL_GROWTH, 116, 116 },
	{ COL_SITE, 0, 0 },
	{ COL_LINE, 62, 62 },
};

/* Enough for a file and line; more for long paths if there is room. */
static unsigned line_cells(int width)
{
	unsigned cells = (unsigned)width / 5;

	return cells < 14 ? 14 : cells > 32 ? 32 : cells;
}

/* A column is as wide as its numbers or as its header, a digit (the key) and the title. */
static unsigned column_cells(enum column c, int width)
{
	unsigned title = (unsigned)strlen(column_table[c].title) + 1;

	if (c == COL_LINE)
		return line_cells(width);
	return column_table[c].cells > title ? column_table[c].cells : title;
}

#define DIFF_SINCE 110 /* from this width on, a diff of another figure shows LIVE's change, too */
#define RANGED	   48 /* from this width on, a range shows what was allocated and freed */

/* Is it one of the columns since a mark or in a range? */
static bool is_since(enum column c)
{
	return c == COL_SINCE || c == COL_SINCE_BLOCKS || c == COL_SINCE_ALLOC ||
	       c == COL_SINCE_FREED || c == COL_KEPT;
}

/* Is it one of a diff's columns? */
static bool is_diff(enum column c)
{
	return c == COL_BEFORE || c == COL_AFTER || c == COL_DELTA;
}

static bool diff_shown(enum column c, int width, int least, struct layout_kind kind)
{
	if (!kind.diff || (c == COL_AFTER && kind.diff_live))
		return false;
	return width >= least && !(kind.hidden >> c & 1);
}

static bool since_shown(enum column c, int width, int least, struct layout_kind kind)
{
	if (!kind.marked || kind.hidden >> c & 1)
		return false;
	if (kind.diff && c == COL_SINCE && kind.diff_live)
		return false; /* DELTA is the same */
	if (kind.diff && c == COL_SINCE)
		return width >= DIFF_SINCE;
	if (kind.ranged && c == COL_KEPT)
		return false;
	if (kind.ranged && (c == COL_SINCE_ALLOC || c == COL_SINCE_FREED))
		return width >= RANGED;
	return width >= least;
}

static bool column_shown(unsigned i, int width, struct layout_kind kind)
{
	enum column c = column_order[i].column;
	int least = kind.sampled ? column_order[i].sampled_width : column_order[i].width;
	bool counted = kind.grouped && width >= GROUPED;

	if (c == COL_SITES)
		return counted && !(kind.hidden >> c & 1);
	if (is_diff(c))
		return diff_shown(c, width, least, kind);
	if (is_since(c))
		return since_shown(c, width, least, kind);
	/* So do the columns since a mark. */
	if (kind.marked)
		width -= (int)(column_table[COL_SINCE].cells + column_table[COL_KEPT].cells) + 2;
	if (kind.ranged)
		width -= (int)(column_table[COL_SINCE_ALLOC].cells +
			       column_table[COL_SINCE_FREED].cells);
	/* The number of sites takes cells from the columns that need a wide screen. */
	if (counted)
		width -= (int)column_table[COL_SITES].cells + 1;
	return width >= least && (c == COL_SITE || !(kind.hidden >> c & 1));
}

unsigned layout_columns(int width, struct layout_kind kind, struct layout_column out[COL_COUNT])
{
	unsigned n = 0, fixed = 1, site = 0; /* one cell for the cursor's mark */
	int x = 1;

	for (unsigned i = 0; i < sizeof(column_order) / sizeof(column_order[0]); i++) {
		enum column c = column_order[i].column;

		if (!column_shown(i, width, kind))
			continue;
		out[n].column = c;
		out[n].cells = column_cells(c, width);
		if (c == COL_SITE)
			site = n;
		else
			fixed += out[n].cells;
		n++;
	}
	fixed += n - 1; /* one blank between two columns */
	out[site].cells = (unsigned)width > fixed ? (unsigned)width - fixed : 1;
	for (unsigned i = 0; i < n; i++) {
		out[i].x = x;
		x += (int)out[i].cells + 1;
	}
	return n;
}

/* A column has the same digit at every width. ALLOCS and TEMP are reached with < and >. */
static const enum column digit_columns[] = {
	COL_LIVE,
	COL_PERCENT,
	COL_RATE,
	COL_TREND,
	COL_BLOCKS,
	COL_AVG,
	COL_SITE,
	COL_LINE,
	COL_PEAK,
};

int layout_digit_column(int key)
{
	int i = key - '1';

	return i >= 0 && i < (int)(sizeof(digit_columns) / sizeof(digit_columns[0]))
		       ? (int)digit_columns[i]
		       : -1;
}

char layout_column_digit(enum column column)
{
	for (size_t i = 0; i < sizeof(digit_columns) / sizeof(digit_columns[0]); i++)
		if (digit_columns[i] == column)
			return (char)('1' + i);
	return 0;
}
