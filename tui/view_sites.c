/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of call sites. All rows are sorted once per snapshot, but only visible ones are
 * formatted (by src/model/columns.c, as in batch mode and reports). The selection is a site, not a
 * row: after each sort it is found again and keeps its line on the screen. Main thread.
 */
#include "tui/view_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/refresh.h"
#include "tui/rows.h"
#include "tui/site_pane.h"

#define SHIFT_MOST   4096 /* cells that names scroll */
#define RATE_MATTERS 1000 /* a rate is coloured from this part of all live bytes per second on */

static struct list *sites_list(struct ui *ui)
{
	return &ui->sites.list;
}

static const struct snap_site *sites_row(const struct ui *ui, size_t row)
{
	return &ui->listed->sites[ui->sites.order[row]];
}

/* ---- order -------------------------------------------------------------------------------- */

static bool sites_grow(struct sites_state *st, size_t rows)
{
	size_t capacity = rows + rows / 2 + 64;
	uint32_t *order, *ids;

	if (rows <= st->capacity)
		return true;
	order = realloc(st->order, capacity * sizeof(*order));
	if (order)
		st->order = order;
	ids = realloc(st->ids, capacity * sizeof(*ids));
	if (ids)
		st->ids = ids;
	if (!order || !ids)
		return false;
	st->capacity = capacity;
	return true;
}

struct sites_rank {
	uint32_t id, index;
};

static int sites_rank_compare(const void *a, const void *b)
{
	const struct sites_rank *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Keeps the rows of known sites in their places; new sites come last, by id. False if out of
 * memory, with nothing changed.
 */
static bool sites_keep_order(struct ui *ui, size_t n)
{
	struct sites_state *st = &ui->sites;
	struct sites_rank *rank = malloc(n * sizeof(*rank) + 1);
	size_t rows = 0;

	if (!rank)
		return false;
	for (size_t i = 0; i < n; i++)
		rank[i] = (struct sites_rank){ ui->listed->sites[i].id, (uint32_t)i };
	qsort(rank, n, sizeof(*rank), sites_rank_compare);
	for (size_t i = 0; i < st->drawn && rows < n; i++) {
		struct sites_rank *r = bsearch(&(struct sites_rank){ st->ids[i], 0 }, rank, n,
			sizeof(*rank), sites_rank_compare);

		if (r && r->index != UINT32_MAX) {
			st->order[rows++] = r->index;
			r->index = UINT32_MAX; /* taken */
		}
	}
	for (size_t i = 0; i < n && rows < n; i++)
		if (rank[i].index != UINT32_MAX)
			st->order[rows++] = rank[i].index;
	free(rank);
	return true;
}

static void sites_select_cursor(struct ui *ui)
{
	struct sites_state *st = &ui->sites;

	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = sites_row(ui, st->list.cursor)->id;
}

/* The user moved the cursor. */
static void sites_moved(struct ui *ui)
{
	struct sites_state *st = &ui->sites;

	sites_select_cursor(ui);
	st->has_chosen = st->has_selected;
	st->chosen = st->selected;
}

static bool sites_follow_row(struct sites_state *st, uint32_t id)
{
	for (size_t i = 0; i < st->list.count; i++) {
		if (st->ids[i] == id) {
			list_follow(&st->list, i);
			return true;
		}
	}
	return false;
}

/* Finds the new row of the chosen site or, while that is hidden, of the site under the cursor. A
 * cursor that was never moved stays on row 0. */
static void sites_follow(struct ui *ui)
{
	struct sites_state *st = &ui->sites;

	if (!st->list.moved || (st->has_chosen && sites_follow_row(st, rows_find(ui, st->chosen))))
		return;
	if (st->has_selected)
		sites_follow_row(st, rows_find(ui, st->selected));
}

static void sites_update(struct ui *ui)
{
	struct sites_state *st = &ui->sites;
	size_t n = ui->listed ? ui->listed->nsites : 0;

	if (!sites_grow(st, n))
		n = 0;
	if (n && !(ui->hold && st->drawn && sites_keep_order(ui, n)))
		sites_sort(ui->listed, ui->sort, ui->reverse, st->order);
	for (size_t i = 0; i < n; i++)
		st->ids[i] = ui->listed->sites[st->order[i]].id;
	st->drawn = n;
	/* Not list_recount: the cursor's line must still be known when the site is found again. */
	st->list.count = n;
	sites_follow(ui);
	list_recount(&st->list, n);
	if (st->list.moved)
		sites_select_cursor(ui);
	else
		sites_moved(ui);
}

static void sites_reset(struct ui *ui)
{
	ui->sites.has_selected = ui->sites.has_chosen = ui->group.is_inside = false;
	ui->sites.drawn = 0;
	ui->sites.list = (struct list){ .height = ui->sites.list.height };
}

static void sites_free(struct ui *ui)
{
	free(ui->sites.order);
	free(ui->sites.ids);
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* The titles of some columns depend on the grouping. */
static const char *sites_column_title(const struct ui *ui, enum column c)
{
	const struct group_info *g = &group_table[ui->group.is_inside ? GROUP_STACK : ui->group.by];

	return c == COL_SITE ? g->title : c == COL_LINE ? g->place : column_table[c].title;
}

static void sites_draw_title(const struct ui *ui, const struct layout_column *c, int y)
{
	const struct column_info *info = &column_table[c->column];
	const char *title = sites_column_title(ui, c->column);
	enum draw_style style = c->column == ui->sort ? STYLE_HEAD_SORT : STYLE_HEAD;
	char digit = layout_column_digit(c->column), text[64];
	int pad;

	snprintf(text, sizeof(text), "%.*s%s", digit != 0, &digit, title);
	pad = info->right ? (int)c->cells - (int)strlen(text) : 0;
	draw_text(y, c->x + (pad > 0 ? pad : 0), c->cells, style, text);
	if (c->column == ui->sort)
		draw_text(y, c->x + (info->right ? (int)c->cells : (int)strlen(text)), 1, style,
			draw_glyph(info->descending != ui->reverse ? GLYPH_DOWN : GLYPH_UP));
}

/* With a sign at the end behind which there are further columns. */
static void sites_draw_head(
	const struct ui *ui, const struct layout_column *columns, unsigned n, int y)
{
	int width = ui->layout.width;

	draw_fill(y, 0, (unsigned)width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		sites_draw_title(ui, &columns[i], y);
	if (ui->sites.scroll)
		draw_text(y, 0, 1, STYLE_HEAD, draw_glyph(GLYPH_MORE_LEFT));
	if (ui->sites.scroll < layout_scroll_most(width, ui_kind(ui)))
		draw_text(y, width - 1, 1, STYLE_HEAD, draw_glyph(GLYPH_MORE_RIGHT));
}

/* A name that is scrolled sideways is shown in full, without its beginning. */
static void sites_shifted_name(const struct ui *ui, const struct snap_site *site, unsigned cells,
	char text[COLUMN_TEXT_MAX])
{
	struct row_style style = ui_style(ui);
	char name[COLUMN_TEXT_MAX * 2];

	if (style.names == NAMES_SHORT)
		style.names = NAMES_FULL;
	site_name(site, &style, name, sizeof(name));
	text_elide(text, COLUMN_TEXT_MAX, name + text_fit(name, ui->sites.shift, NULL), cells,
		false, draw_is_ascii());
}

/*
 * Only rates that move the whole heap are coloured: each change of style costs up to twenty bytes
 * on the line, for each row and frame, and the number's sign says the same.
 */
static enum draw_style sites_cell_style(
	const struct ui *ui, const struct snap_site *site, enum column c, unsigned cells)
{
	double matters = (double)ui->shown->totals.live_bytes / RATE_MATTERS;
	const uint64_t *values;
	unsigned n;

	if (!site->of_thread &&
		snapshot_is_noise(ui->shown, site->live_bytes, site->error.live_bytes))
		return STYLE_DIM;
	if (c == COL_TREND) {
		n = column_trend(site, cells, &values);
		return spark_is_flat(values, n) ? STYLE_DIM : STYLE_PLAIN;
	}
	if (c != COL_RATE || site->rate_bytes_per_s == 0 || snapshot_is_young(ui->shown))
		return STYLE_PLAIN;
	if (site->rate_bytes_per_s >= matters)
		return STYLE_WARN;
	return -site->rate_bytes_per_s >= matters ? STYLE_GOOD : STYLE_PLAIN;
}

#define NAME_LEAST 8 /* cells of a name before its line */

/* Where no column has the line, call sites of one function would look the same: the name has it. */
static void sites_name_with_line(
	const struct snap_site *site, const struct row_style *style, char out[COLUMN_TEXT_MAX])
{
	struct row_style name = *style, whole = *style;
	char place[COLUMN_TEXT_MAX / 2];
	const char *line;

	whole.line_cells = 0;
	site_place(site, &whole, place, sizeof(place));
	line = site->group ? NULL : strrchr(place, ':');
	if (!line || style->site_cells < NAME_LEAST + text_cells(line))
		line = "";
	name.site_cells -= (unsigned)text_cells(line);
	site_name(site, &name, out, COLUMN_TEXT_MAX / 2);
	strcat(out, line);
}

static void sites_draw_cell(const struct ui *ui, size_t row, const struct layout_column *c,
	bool has_line, int y, bool selected)
{
	const struct snap_site *site = sites_row(ui, row);
	struct row_style style = ui_style(ui);
	char text[COLUMN_TEXT_MAX], twin[TWINS_TEXT];

	style.site_cells = style.line_cells = c->cells;
	if (c->column == COL_SITE)
		style.twin = twins_text(&ui->sites.twins, row, style.glyphs, twin);
	if (c->column == COL_SITE && ui->sites.shift)
		sites_shifted_name(ui, site, c->cells, text);
	else if (c->column == COL_SITE && !has_line && !style.twin)
		sites_name_with_line(site, &style, text);
	else
		column_cell(c->column, ui->shown, site, &style, c->cells, text);
	draw_text(y, c->x, c->cells,
		selected ? STYLE_SELECT : sites_cell_style(ui, site, c->column, c->cells), text);
}

static void sites_draw_row(
	const struct ui *ui, const struct layout_column *columns, unsigned n, size_t row, int y)
{
	bool selected = row == ui->sites.list.cursor, has_line = false;

	for (unsigned i = 0; i < n; i++)
		has_line |= columns[i].column == COL_LINE;
	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++)
		sites_draw_cell(ui, row, &columns[i], has_line, y, selected);
}

/* Why there is no row although there are call sites. */
static const char *sites_all_hidden(const struct ui *ui)
{
	if (ui->filter && ui->group.is_inside)
		return "no call site of this group matches the filter: \\ changes it";
	if (ui->filter)
		return "no call site matches the filter: \\ changes it, Esc clears it";
	if (ui->group.is_inside)
		return "no call site is in this group now: Esc goes back";
	return "no call site is in a group; g groups them otherwise";
}

static void sites_draw_empty(const struct ui *ui)
{
	const char *why =
		!ui->shown ? "waiting for the first snapshot"
		: ui->group.by == GROUP_THREAD && !ui->shown->has_alive && ui_moment(ui) != SNAP_NOW
			? "live blocks by thread are known only for the present: F returns to it"
		: ui->group.by == GROUP_THREAD && ui->shown->kinds
			? "threads are counted in the heap only: M shows it, g groups otherwise"
		: ui->group.by == GROUP_THREAD && !ui->shown->has_alive && !ui->source->shares
			? "this file has no live blocks by thread; g groups otherwise"
		: ui->group.by == GROUP_THREAD && !ui->shown->has_alive
			? "counting live blocks by thread"
		: ui->shown->nsites ? sites_all_hidden(ui)
		: ui->shown->attach.how == SNAP_ATTACH_OUTSIDE
			? "no call sites: the program is not recorded; F8 shows its memory"
			: "no call sites yet: the program has not allocated anything";

	draw_text(ui->layout.y[ROW_BODY], 2, (unsigned)ui->layout.width - 2, STYLE_DIM, why);
}

#define TWINS_AROUND 24 /* rows above and below the screen that are compared */

static void sites_find_twins(struct ui *ui)
{
	const struct list *l = &ui->sites.list;
	size_t from = l->top > TWINS_AROUND ? l->top - TWINS_AROUND : 0;
	size_t to = l->top + l->height + TWINS_AROUND;

	ui->sites.twins.count = 0;
	if (ui->listed)
		twins_find(&ui->sites.twins, ui->listed, ui->sites.order, from,
			to < l->count ? to : l->count, ui->show_hidden);
}

static int sites_rows(const struct ui *ui)
{
	return ui->layout.body_height - site_pane_lines(ui);
}

static void sites_draw(struct ui *ui)
{
	struct layout_column columns[COL_COUNT];
	unsigned n = layout_columns(ui->layout.width, ui_kind(ui), columns);
	const struct list *l = &ui->sites.list;

	sites_draw_head(ui, columns, n, ui->layout.y[ROW_HEAD]);
	sites_find_twins(ui);
	if (!l->count)
		sites_draw_empty(ui);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		sites_draw_row(ui, columns, n, l->top + i, ui->layout.y[ROW_BODY] + (int)i);
	if (site_pane_lines(ui))
		site_pane_draw(ui, l->count ? sites_row(ui, l->cursor) : NULL,
			ui->layout.y[ROW_BODY] + sites_rows(ui));
}

static bool sites_column_shown(const struct ui *ui, enum column column)
{
	struct layout_column shown[COL_COUNT];
	unsigned n = layout_columns(ui->layout.width, ui_kind(ui), shown);

	for (unsigned i = 0; i < n; i++)
		if (shown[i].column == column)
			return true;
	return false;
}

static void sites_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->sites.list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count;
	char bytes[UNITS_MAX], percent[UNITS_MAX], first[UNITS_MAX], last[UNITS_MAX],
		all[UNITS_MAX];
	const char *many = group_table[ui->group.is_inside ? GROUP_STACK : ui->group.by].many;
	uint64_t sum = 0;

	if (!l->count)
		return;
	for (size_t i = l->top; i < end; i++)
		sum += sites_row(ui, i)->live_bytes;
	snprintf(text, cap, "%s-%s of %s %.*s%s   these hold %s (%s%%)   %s",
		units_count(first, l->top + 1), units_count(last, end), units_count(all, l->count),
		(int)(strlen(many) - (l->count == 1)), many, /* all end in "s" */
		!ui->filter	? ""
		: l->count == 1 ? " that matches"
				: " that match",
		units_bytes(bytes, sum), units_percent(percent, sum, ui->shown->totals.live_bytes),
		ui_moment(ui) != SNAP_NOW && sites_column_shown(ui, COL_AGE)
			? "AGE is known only for the present"
		: l->moved ? "> keeps its line"
			   : "");
}

void view_sites_sort(struct ui *ui, enum column column)
{
	int replaced;

	ui->reverse = column == ui->sort ? !ui->reverse : false;
	ui->sort = column;
	/* A held order is the one requested last. */
	ui->sites.drawn = 0;
	refresh_views(ui);
	replaced = layout_replaced(ui->layout.width, ui_kind(ui));
	if (replaced >= 0 && !ui->sites.scroll)
		ui_message(ui, "sorted by %s, which replaces %s on this narrow screen",
			column_table[column].title, column_table[replaced].title);
}

void view_sites_scroll(struct ui *ui, int cells)
{
	unsigned most = layout_scroll_most(ui->layout.width, ui_kind(ui)), *scroll;

	scroll = &ui->sites.scroll;
	if (*scroll > most)
		*scroll = most; /* the screen has grown */
	if (cells == 0)
		*scroll = ui->sites.shift = 0;
	else if (cells > 0 && *scroll < most)
		(*scroll)++;
	else if (cells > 0 && ui->sites.shift < SHIFT_MOST)
		ui->sites.shift += (unsigned)cells;
	else if (cells < 0 && ui->sites.shift)
		ui->sites.shift -=
			ui->sites.shift < (unsigned)-cells ? ui->sites.shift : (unsigned)-cells;
	else if (cells < 0 && *scroll)
		(*scroll)--;
}

void view_sites_click_head(struct ui *ui, int x)
{
	struct layout_column columns[COL_COUNT];
	unsigned n = layout_columns(ui->layout.width, ui_kind(ui), columns);

	for (unsigned i = 0; i < n; i++)
		if (x >= columns[i].x && x <= columns[i].x + (int)columns[i].cells)
			view_sites_sort(ui, columns[i].column);
}

static bool sites_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	return filter_match(f, ui->listed, sites_row(ui, row), ui->show_hidden);
}

static void sites_click(struct ui *ui, int y, int x)
{
	size_t row = ui->sites.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (y < ui->layout.y[ROW_BODY] + sites_rows(ui) && row < ui->sites.list.count) {
		list_select(&ui->sites.list, row);
		sites_moved(ui);
	}
}

void view_sites_select(struct ui *ui, uint32_t site)
{
	struct sites_state *st = &ui->sites;

	for (size_t i = 0; i < st->list.count; i++)
		if (st->ids[i] == site)
			list_select(&st->list, i);
	st->list.moved = st->has_selected = st->has_chosen = true;
	st->selected = st->chosen = site;
}

const struct view view_sites = {
	.title = "Sites",
	.scope = IN_SITES,
	.update = sites_update,
	.moved = sites_moved,
	.rows = sites_rows,
	.draw = sites_draw,
	.status = sites_status,
	.list = sites_list,
	.click = sites_click,
	.matches = sites_matches,
	.reset = sites_reset,
	.free = sites_free,
};
