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

#define ELSEWHERE_HEIGHT 14 /* from this height on, the timeline is shown in every view */

static bool row_shown(enum layout_row row, int height, unsigned flags)
{
	if (row == ROW_HISTORY && flags & LAYOUT_TIMELINE && flags & LAYOUT_ELSEWHERE)
		return height >= ELSEWHERE_HEIGHT && !(flags & LAYOUT_NO_HEADER);
	return height >= row_table[row].height && !(flags & row_table[row].unless) &&
	       (flags & row_table[row].only) == row_table[row].only;
}

/* A timeline of several lines begins at 30: 24 lines are needed for the table. */
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
	{ COL_ALLOC_RATE, 176, 176 },
	{ COL_BYTE_RATE, 186, 186 },
	{ COL_TEMP_RATE, 210, 210 },
	{ COL_TEMP_SHARE, 220, 220 },
	{ COL_FREED_SHARE, 230, 230 },
	{ COL_RETAINED, 172, 172 },
	{ COL_TYPE, 196, 196 },
	{ COL_AGE, 90, 100 },
	{ COL_FAULTS, 60, 60 },
	{ COL_SITES, GROUPED, GROUPED },
	{ COL_GROWTH, 116, 116 },
	{ COL_SITE, 0, 0 },
	{ COL_LINE, 62, 62 },
};
#define COLUMNS (sizeof(column_order) / sizeof(column_order[0]))
_Static_assert(COLUMNS == COL_COUNT, "each column has a place");
_Static_assert(COL_COUNT <= 64, "layout_kind.hidden has a bit for each");

enum column layout_usual(unsigned at)
{
	return column_order[at].column;
}

/* The column at a place, from the left. */
static enum column layout_order(const struct layout_kind *kind, unsigned at)
{
	return kind->look && kind->look->ordered ? (enum column)kind->look->order[at]
						 : column_order[at].column;
}

/* Enough for a file and line, or a class; more for long ones if there is room. */
static unsigned line_cells(int width)
{
	unsigned cells = (unsigned)width / 5;

	return cells < 14 ? 14 : cells > 32 ? 32 : cells;
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

static bool since_fits(enum column c, int width, int least, struct layout_kind kind)
{
	if (kind.diff && c == COL_SINCE)
		return width >= DIFF_SINCE;
	if (kind.ranged && (c == COL_SINCE_ALLOC || c == COL_SINCE_FREED))
		return width >= RANGED;
	return width >= least;
}

static bool column_is_off(enum column c, struct layout_kind kind)
{
	return c != COL_SITE && (int)c != kind.sort && kind.set == COLUMNS_MEMORY &&
	       kind.hidden >> c & 1;
}

/* Does the column mean anything in these rows, however wide the screen is? */
static bool column_applies(enum column c, struct layout_kind kind)
{
	if ((int)c == kind.sort)
		return true;
	if (c == COL_ERROR)
		return kind.sampled;
	if (c == COL_SITES)
		return kind.grouped;
	if (c == COL_RETAINED)
		return kind.retained;
	if (c == COL_FAULTS)
		return kind.faults;
	if (c == COL_TYPE)
		return kind.typed;
	if (is_diff(c))
		return kind.diff && !(c == COL_AFTER && kind.diff_live);
	if (is_since(c))
		return kind.marked && !(kind.ranged && c == COL_KEPT) &&
		       !(kind.diff && kind.diff_live && c == COL_SINCE);
	return true;
}

static bool column_fits(unsigned i, int width, struct layout_kind kind)
{
	enum column c = column_order[i].column;
	int least = kind.sampled ? column_order[i].sampled_width : column_order[i].width;
	bool counted = kind.grouped && width >= GROUPED;

	if (c == COL_SITES)
		return counted;
	if (is_diff(c))
		return width >= least;
	if (is_since(c))
		return since_fits(c, width, least, kind);
	/* So do the columns since a mark. */
	if (kind.marked)
		width -= (int)(column_table[COL_SINCE].cells + column_table[COL_KEPT].cells) + 2;
	if (kind.ranged)
		width -= (int)(column_table[COL_SINCE_ALLOC].cells +
			       column_table[COL_SINCE_FREED].cells);
	/* The number of sites takes cells from the columns that need a wide screen. */
	if (counted)
		width -= (int)column_table[COL_SITES].cells + 1;
	return width >= least;
}

/* ---- one row of columns ------------------------------------------------------------------- */

#define SET_SITE   5 /* in a set, this part of the width is for the call site */
#define TREND_WIDE 140 /* from this width on, trends show all their points */
#define SITE_LEAST 14 /* cells of a call site's name below which another column goes first */

#define SCROLL_LEAST 12 /* the same while columns are scrolled */

/* The columns by their usual places: which of them are shown. */
struct columns {
	int width;
	struct layout_kind kind;
	bool shown[COLUMNS];
};

/* A column is as wide as its numbers or as its header, a digit (the key) and the title, unless the
 * user chose another width. */
static unsigned column_cells(enum column c, const struct columns *s)
{
	unsigned title = (unsigned)strlen(column_table[c].title) + 1;

	if (s->kind.look && s->kind.look->cells[c])
		return s->kind.look->cells[c];
	if (c == COL_LINE || c == COL_TYPE)
		return line_cells(s->width);
	if (c == COL_TREND && s->width >= TREND_WIDE)
		return SNAP_TREND_POINTS;
	return column_table[c].cells > title ? column_table[c].cells : title;
}

/* The cells that are left for the call site's name. */
static int columns_rest(const struct columns *s)
{
	int rest = s->width - 1; /* one cell for the cursor's mark */

	for (unsigned i = 0; i < COLUMNS; i++)
		if (s->shown[i] && column_order[i].column != COL_SITE)
			rest -= (int)column_cells(column_order[i].column, s) + 1;
	return rest;
}

static bool column_stays(const struct columns *s, unsigned i)
{
	enum column c = column_order[i].column;

	return c == COL_SITE || c == COL_LIVE || (int)c == s->kind.sort;
}

/* The width of the screen from which on it is usually there. */
static int column_least(const struct columns *s, unsigned i)
{
	return s->kind.sampled ? column_order[i].sampled_width : column_order[i].width;
}

/* The column that goes first: the one that needs the widest screen. -1: none. */
static int columns_last(const struct columns *s)
{
	int last = -1;

	for (unsigned i = 0; i < COLUMNS; i++)
		if (s->shown[i] && !column_stays(s, i) &&
			(last < 0 || column_least(s, i) >= column_least(s, (unsigned)last)))
			last = (int)i;
	return last;
}

/* Columns go until the name of the call site has `least` cells. */
static void columns_squeeze(struct columns *s, int least)
{
	int last;

	while (columns_rest(s) < least && (last = columns_last(s)) >= 0)
		s->shown[last] = false;
}

static unsigned column_place(enum column c)
{
	unsigned i = 0;

	while (column_order[i].column != c)
		i++;
	return i;
}

/* The columns of a set, the most important first, as long as there is room. */
static void columns_of_set(struct columns *s)
{
	const struct column_set_info *set = &column_sets[s->kind.set];
	int least = s->width / SET_SITE > SITE_LEAST ? s->width / SET_SITE : SITE_LEAST;

	for (unsigned i = 0; i < COLUMNS; i++)
		s->shown[i] = column_stays(s, i) || column_order[i].column == COL_SITES;
	s->shown[column_place(COL_SITES)] &= column_applies(COL_SITES, s->kind);
	for (unsigned i = 0; i < set->count; i++) {
		unsigned place = column_place(set->column[i]);
		bool before = s->shown[place];

		if (!column_applies(set->column[i], s->kind))
			continue;
		s->shown[place] = true;
		if (columns_rest(s) < least)
			s->shown[place] = before;
	}
	columns_squeeze(s, SITE_LEAST);
}

/* The columns of this width; the one that sorts takes the place of another. */
static void columns_choose(struct columns *s)
{
	unsigned sort = s->kind.sort >= 0 ? column_place((enum column)s->kind.sort) : COLUMNS;
	int rest;

	for (unsigned i = 0; i < COLUMNS; i++) {
		enum column c = column_order[i].column;

		s->shown[i] = i != sort && column_applies(c, s->kind) &&
			      !column_is_off(c, s->kind) && column_fits(i, s->width, s->kind);
	}
	if (sort < COLUMNS && column_fits(sort, s->width, s->kind)) {
		s->shown[sort] = true;
		columns_squeeze(s, SITE_LEAST);
		return;
	}
	rest = columns_rest(s);
	if (sort < COLUMNS)
		s->shown[sort] = true;
	columns_squeeze(s, rest < SITE_LEAST ? SITE_LEAST : rest);
}

/* Columns from the left, without the first `scroll` ones; LIVE and the one that sorts stay. */
static void columns_scroll(struct columns *s)
{
	unsigned skipped = 0, more = 0;

	for (unsigned i = 0; i < COLUMNS; i++)
		s->shown[i] = column_stays(s, i) && !column_is_off(column_order[i].column, s->kind);
	for (unsigned at = 0; at < COLUMNS; at++) {
		unsigned i = column_place(layout_order(&s->kind, at));

		if (column_stays(s, i) || !column_applies(column_order[i].column, s->kind) ||
			column_is_off(column_order[i].column, s->kind))
			continue;
		if (skipped < s->kind.scroll) {
			skipped++;
			continue;
		}
		s->shown[i] = true;
		/* One fits at any width. */
		if (more++ == 0 || columns_rest(s) >= SCROLL_LEAST)
			continue;
		s->shown[i] = false;
		break;
	}
}

static unsigned columns_put(const struct columns *s, struct layout_column out[COL_COUNT])
{
	int rest = columns_rest(s), x = 1;
	unsigned n = 0;

	for (unsigned at = 0; at < COLUMNS; at++) {
		enum column c = layout_order(&s->kind, at);

		if (!s->shown[column_place(c)])
			continue;
		out[n].column = c;
		out[n].cells = c != COL_SITE ? column_cells(c, s) : rest > 0 ? (unsigned)rest : 1;
		out[n].x = x;
		x += (int)out[n++].cells + 1;
	}
	return n;
}

unsigned layout_columns(int width, struct layout_kind kind, struct layout_column out[COL_COUNT])
{
	struct columns s = { .width = width, .kind = kind };

	if (kind.scroll)
		columns_scroll(&s);
	else if (kind.set != COLUMNS_MEMORY)
		columns_of_set(&s);
	else
		columns_choose(&s);
	return columns_put(&s, out);
}

static bool columns_have(const struct layout_column *c, unsigned n, enum column column)
{
	for (unsigned i = 0; i < n; i++)
		if (c[i].column == column)
			return true;
	return false;
}

int layout_replaced(int width, struct layout_kind kind)
{
	struct layout_column with[COL_COUNT], without[COL_COUNT];
	unsigned n = layout_columns(width, kind, with), usual;

	if (kind.set != COLUMNS_MEMORY)
		return -1;
	kind.sort = -1;
	usual = layout_columns(width, kind, without);
	for (unsigned i = usual; i-- > 0;)
		if (!columns_have(with, n, without[i].column))
			return (int)without[i].column;
	return -1;
}

/* Is it one of the columns that could be shown beside the ones that always are? */
static bool column_moves(enum column c, const struct layout_kind *kind)
{
	struct columns s = { .kind = *kind };

	return !column_stays(&s, column_place(c)) && column_applies(c, *kind) &&
	       !column_is_off(c, *kind);
}

unsigned layout_scroll_most(int width, struct layout_kind kind)
{
	struct layout_column c[COL_COUNT];
	enum column last = COL_COUNT;
	unsigned all = 1, most = 0; /* the site is there */

	for (unsigned at = 0; at < COLUMNS; at++)
		if (column_moves(layout_order(&kind, at), &kind))
			last = layout_order(&kind, at), most++;
	all += most + (kind.sort > COL_LIVE && kind.sort != COL_SITE) +
	       (kind.sort == COL_LIVE || !(kind.hidden >> COL_LIVE & 1));
	kind.scroll = 0;
	if (layout_columns(width, kind, c) >= all)
		return 0;
	for (kind.scroll = 1; kind.scroll < most; kind.scroll++)
		if (columns_have(c, layout_columns(width, kind, c), last))
			break;
	return kind.scroll;
}

int layout_next(struct layout_kind kind, int step)
{
	int at = 0;

	while (at < (int)COLUMNS && (int)layout_order(&kind, (unsigned)at) != kind.sort)
		at++;
	for (at += step; at >= 0 && at < (int)COLUMNS; at += step) {
		enum column c = layout_order(&kind, (unsigned)at);

		if (column_applies(c, kind) && !column_is_off(c, kind))
			return (int)c;
	}
	return -1;
}

/* A column has the same digit at every width. The others are reached with < and >. */
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
