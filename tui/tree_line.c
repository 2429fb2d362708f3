/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line of the call tree as text, and the pane about the selected line. Called by view_tree.c
 * for each visible line, on the main thread.
 */
#include "tui/tree_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/model/value.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/tree_table.h"

#define PANE_HEIGHT 13 /* with fewer body lines there is no pane */
#define CHAIN_NAMES 64 /* more names than fit on any screen */
#define CHAIN_SPARE 64 /* bytes for arrows, dots and the count */
#define CHAIN_LEAST 12 /* with fewer cells for names, the count of a chain is left out */

/* ---- drawing ------------------------------------------------------------------------------ */

/* "│ ├─+ ": the branches before a name. Deep ones lose their beginning. */
static void tree_prefix(const struct ui *ui, const struct tree_row *row, unsigned cells, char *out)
{
	unsigned from = 1, most = cells / 4 > 1 ? cells / 4 : 1;
	bool open = tree_line_node(ui, row->node)->marks & TREE_ROWS_OPEN;

	*out = 0;
	if (row->level == 0)
		return;
	if (row->level > most) {
		from = row->level - most + 1;
		out = stpcpy(out, draw_glyph(GLYPH_ELLIPSIS_1));
	}
	for (unsigned i = from; i < row->level; i++)
		out = stpcpy(
			out, i < 64 && row->guides >> i & 1 ? draw_glyph(GLYPH_TREE_LINE) : "  ");
	out = stpcpy(out, draw_glyph(row->last ? GLYPH_TREE_END : GLYPH_TREE_BRANCH));
	stpcpy(out, !row->has_children ? "  " : open && !row->small ? "- " : "+ ");
}

void tree_line_name(const struct ui *ui, const struct tree_node *n, unsigned cells,
	enum name_style style, char *out)
{
	/* Frames of several lines were merged, so there is no single address. */
	if (style == NAMES_ADDRESS && n->place_differs)
		style = NAMES_FULL;
	if (n->missing)
		text_elide(out, COLUMN_TEXT_MAX, n->frame.function, cells ? cells : COLUMN_TEXT_MAX,
			false, draw_is_ascii());
	else
		frame_name(&n->frame, style, cells, draw_is_ascii(), out, COLUMN_TEXT_MAX);
}

/* The nodes of a chain, outermost first, as many as could ever be drawn. Returns their number. */
static uint32_t tree_chain(
	const struct ui *ui, const struct tree_row *row, uint32_t out[CHAIN_NAMES])
{
	uint32_t n = row->node;

	for (uint32_t i = row->folded;; i--) {
		if (i < CHAIN_NAMES)
			out[i] = n;
		if (i == 0)
			break;
		n = tree_line_node(ui, n)->parent;
	}
	return row->folded + 1 < CHAIN_NAMES ? row->folded + 1 : CHAIN_NAMES;
}

/* Appends as much as fits into COLUMN_TEXT_MAX bytes. */
static void chain_append(char *out, const char *more)
{
	size_t used = strlen(out);

	snprintf(out + used, COLUMN_TEXT_MAX - used, "%s", more);
}

/* Appends "NAME → " (or " ← NAME") if it fits into `room` cells. Returns the cells taken; 0: it
 * does not fit. */
static unsigned chain_add(
	const struct ui *ui, uint32_t node, const char *format, unsigned room, char *out)
{
	const char *arrow = draw_glyph(ui->tree.inverted ? GLYPH_CALLED_BY : GLYPH_CALLS);
	char name[COLUMN_TEXT_MAX];
	size_t used = strlen(out);
	unsigned cells;

	tree_line_name(ui, tree_line_node(ui, node), 0, ui->names, name);
	cells = (unsigned)(text_cells(name) + text_cells(arrow));
	if (cells > room || used + strlen(name) + CHAIN_SPARE > COLUMN_TEXT_MAX)
		return 0;
	sprintf(out + used, *format == '<' ? "%2$s%1$s" : "%1$s%2$s", name, arrow);
	return cells;
}

/* "main → run → step": always the last name, and as many of the others as fit. */
static void chain_down(const struct ui *ui, const struct tree_row *row, unsigned cells, char *out)
{
	uint32_t chain[CHAIN_NAMES], count = tree_chain(ui, row, chain), i, took;
	const char *arrow = draw_glyph(GLYPH_CALLS), *gap = draw_glyph(GLYPH_ELLIPSIS);
	unsigned gap_cells = (unsigned)(text_cells(gap) + text_cells(arrow)), room;
	char last[COLUMN_TEXT_MAX];

	tree_line_name(ui, tree_line_node(ui, row->node), cells, ui->names, last);
	room = cells - (unsigned)text_cells(last);
	for (i = 0; i + 1 < count; i++) {
		unsigned spare = i + 2 < count ? gap_cells : 0;

		took = room > spare ? chain_add(ui, chain[i], ">", room - spare, out) : 0;
		if (!took)
			break;
		room -= took;
	}
	if (i + 1 < count && room >= gap_cells)
		strcat(strcat(out, gap), arrow);
	chain_append(out, last);
}

/* "step ← run ← main": always the first name, and as many of the others as fit. */
static void chain_up(const struct ui *ui, const struct tree_row *row, unsigned cells, char *out)
{
	uint32_t chain[CHAIN_NAMES], count = tree_chain(ui, row, chain), i, took;
	const char *arrow = draw_glyph(GLYPH_CALLED_BY), *gap = draw_glyph(GLYPH_ELLIPSIS);
	unsigned gap_cells = (unsigned)(text_cells(gap) + text_cells(arrow)), room;

	tree_line_name(ui, tree_line_node(ui, row->first), cells, ui->names, out);
	room = cells - (unsigned)text_cells(out);
	for (i = 1; i < count; i++) {
		unsigned spare = i + 1 < count ? gap_cells : 0;

		took = room > spare ? chain_add(ui, chain[i], "<", room - spare, out) : 0;
		if (!took)
			break;
		room -= took;
	}
	if (i < count && room >= gap_cells)
		strcat(strcat(out, arrow), gap);
}

/* The names of a chain, and the number of lines folded into it. */
static void tree_chain_name(
	const struct ui *ui, const struct tree_row *row, unsigned cells, char *out)
{
	char tail[CHAIN_SPARE / 2];

	snprintf(tail, sizeof(tail), "  (%" PRIu32 " folded)", row->folded);
	if (strlen(tail) + CHAIN_LEAST > cells)
		*tail = 0;
	*out = 0;
	(ui->tree.inverted ? chain_up : chain_down)(ui, row, cells - (unsigned)strlen(tail), out);
	chain_append(out, tail);
}

static void tree_name(const struct ui *ui, const struct tree_row *row, unsigned cells, char *out)
{
	char text[COLUMN_TEXT_MAX];
	uint32_t all = tree_line_node(ui, row->node)->parent;

	if (row->small) {
		snprintf(text, sizeof(text), "%" PRIu32 " more below %g%%", row->small,
			ui->tree.least_permille / 10.0);
	} else if (row->level == 0 && row->node == TREE_ROOT && all == TREE_ROOT) {
		snprintf(text, sizeof(text), "all");
	} else if (row->folded) {
		tree_chain_name(ui, row, cells, text);
	} else {
		tree_line_name(ui, tree_line_node(ui, row->node), cells, ui->names, text);
	}
	text_elide(out, COLUMN_TEXT_MAX, text, cells, false, draw_is_ascii());
}

/* The function of a chain nearest to the allocation, which its line is about. */
static const struct tree_node *tree_near(const struct ui *ui, const struct tree_row *row)
{
	return tree_line_node(ui, ui->tree.inverted ? row->first : row->node);
}

static void tree_place(const struct ui *ui, const struct tree_node *n, unsigned cells, char *out)
{
	struct frame f = n->frame;

	*out = 0;
	if (n->place_differs)
		f.line = 0;
	if (!n->missing && n->frame.module->name)
		frame_place(&f, cells, draw_is_ascii(), out, COLUMN_TEXT_MAX);
}

/* Bytes, or what a diff compares. */
static void tree_change(const struct ui *ui, int64_t change, char *out)
{
	const struct value_info *compared = ui->shown ? ui->shown->compared : NULL;

	units_signed(out, change, compared && !compared->bytes ? units_count : units_bytes);
}

/* The figure that totals are sums of. */
static void tree_amount(const struct ui *ui, uint64_t value, char *out)
{
	if (value_table[ui->tree.value].bytes)
		units_bytes(out, value);
	else
		units_count(out, value);
}

static uint64_t tree_error(const struct ui *ui, const struct tree_row *row)
{
	return (uint64_t)sqrt(
		row->small ? row->small_error2 : tree_line_node(ui, row->node)->error2);
}

static bool tree_is_noise(const struct ui *ui, const struct tree_row *row)
{
	uint64_t bytes = row->small ? row->small_bytes : tree_line_node(ui, row->node)->total_bytes;

	return ui->tree.value == VALUE_LIVE &&
	       snapshot_is_noise(ui->shown, bytes, tree_error(ui, row));
}

/* The text of one cell. */
static void tree_cell(
	const struct ui *ui, const struct tree_row *row, const struct table_place *p, char *out)
{
	const struct tree_node *n = tree_line_node(ui, row->node);
	uint64_t whole = tree_line_node(ui, ui->tree.rows.row[0].node)->total_bytes;
	uint64_t bytes = row->small ? row->small_bytes : n->total_bytes;
	char name[COLUMN_TEXT_MAX];

	*out = 0;
	switch (tree_table_meaning(ui, p->column)) {
	case TREE_ROWS_TOTAL:
		if (tree_is_noise(ui, row))
			snapshot_noise_text(bytes, tree_error(ui, row), out);
		else
			tree_amount(ui, bytes, out);
		break;
	case TREE_ROWS_PERCENT:
		units_percent(out, bytes, whole);
		break;
	case TREE_ROWS_ERROR:
		if (ui->tree.value != VALUE_LIVE)
			strcpy(out, "-");
		else if (tree_is_noise(ui, row))
			strcpy(out, "noise");
		else
			units_bytes(out, tree_error(ui, row));
		break;
	case TREE_ROWS_SELF:
		tree_amount(ui, row->small ? 0 : n->self_bytes, out);
		break;
	case TREE_ROWS_RATE:
		if (ui_moment(ui) == SNAP_PEAK)
			strcpy(out, "-");
		else
			snapshot_growth_text(
				ui->shown, row->small ? row->small_rate : n->rate_bytes_per_s, out);
		break;
	case TREE_ROWS_BLOCKS:
		units_count(out, row->small ? row->small_blocks : n->blocks);
		break;
	case TREE_ROWS_NAME:
		tree_prefix(ui, row, p->cells, out);
		tree_name(ui, row, p->cells - (unsigned)text_cells(out), name);
		strcat(out, name);
		break;
	case TREE_ROWS_PLACE:
		if (!row->small && row->node != TREE_ROOT)
			tree_place(ui, tree_near(ui, row), p->cells, out);
		break;
	case TREE_ROWS_SINCE:
		tree_change(ui, row->small ? row->small_since : n->since_bytes, out);
		break;
	case TREE_ROWS_ALLOC:
		units_bytes(out, row->small ? row->small_alloc : n->since_alloc);
		break;
	case TREE_ROWS_FREED:
		units_bytes(out, row->small ? row->small_freed : n->since_freed);
		break;
	case TREE_ROWS_NEW:
		units_signed(out, row->small ? row->small_new : n->since_blocks, units_count);
		break;
	case TREE_ROWS_BAR:
	case TREE_ROWS_COUNT:
		bar_text(bytes, whole, p->cells, draw_glyph_set(), out, COLUMN_TEXT_MAX);
	}
}

static enum draw_style tree_style(const struct ui *ui, const struct tree_row *row, unsigned column)
{
	double rate =
		row->small ? row->small_rate : tree_line_node(ui, row->node)->rate_bytes_per_s;
	double matters = (double)ui->shown->totals.live_bytes / 1000;
	int64_t since = row->small ? row->small_since : tree_line_node(ui, row->node)->since_bytes;

	if (tree_is_noise(ui, row))
		return STYLE_DIM;
	if (tree_table_meaning(ui, column) == TREE_ROWS_BAR)
		return STYLE_GOOD;
	if (tree_table_meaning(ui, column) == TREE_ROWS_SINCE)
		return since == 0 ? STYLE_PLAIN : since > 0 ? STYLE_WARN : STYLE_GOOD;
	if (tree_table_meaning(ui, column) != TREE_ROWS_RATE || rate == 0 ||
		snapshot_is_young(ui->shown))
		return STYLE_PLAIN;
	return rate >= matters ? STYLE_WARN : -rate >= matters ? STYLE_GOOD : STYLE_PLAIN;
}

void tree_line_draw(const struct ui *ui, size_t at, int y)
{
	const struct tree_row *row = &ui->tree.rows.row[at];
	struct table_place place[TABLE_COLUMNS];
	unsigned n = tree_table_fit(ui, place);
	bool selected = at == ui->tree.list.cursor;
	char text[2 * COLUMN_TEXT_MAX];

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		tree_cell(ui, row, &place[i], text);
		table_draw_cell(tree_table_columns(ui), place[i], y,
			selected ? STYLE_SELECT : tree_style(ui, row, place[i].column), text);
	}
}

/* ---- the pane below ----------------------------------------------------------------------- */

bool tree_line_has_pane(const struct ui *ui)
{
	return ui->layout.body_height >= PANE_HEIGHT;
}

static void pane_name(const struct ui *ui, const struct tree_node *n, int y, unsigned width)
{
	char text[COLUMN_TEXT_MAX];
	unsigned place;

	tree_place(ui, n, width / 3, text);
	place = (unsigned)text_cells(text);
	draw_text(y, (int)(width - place - 1), place, STYLE_DIM, text);
	tree_line_name(
		ui, n, width - place - 4, ui->names == NAMES_SHORT ? NAMES_FULL : ui->names, text);
	draw_text(y, 1, width - place - 3, STYLE_BOLD, text);
}

static void pane_rates(const struct ui *ui, const struct tree_node *n, struct infoline *s)
{
	char a[UNITS_MAX];

	infoline_left(s, 40, STYLE_PLAIN, "allocs %s", units_freq(a, n->allocs_per_s));
	infoline_right(s, 85, n->rate_bytes_per_s > 0 ? STYLE_WARN : STYLE_PLAIN, "growth %s",
		snapshot_growth_text(ui->shown, n->rate_bytes_per_s, a));
}

static void pane_changes(const struct ui *ui, const struct tree_node *n, struct infoline *s)
{
	char a[UNITS_MAX + 1];

	tree_change(ui, n->since_bytes, a);
	infoline_right(s, 85, n->since_bytes > 0 ? STYLE_WARN : STYLE_PLAIN, "%s %s",
		ui->shown->compared ? ui->shown->compared->title : "growth", a);
	if (ui->shown->compared)
		return;
	infoline_left(s, 65, STYLE_PLAIN, "allocated %s", units_bytes(a, n->since_alloc));
	infoline_left(s, 60, STYLE_PLAIN, "freed %s", units_bytes(a, n->since_freed));
}

static void pane_numbers(const struct ui *ui, const struct tree_node *n, int y, unsigned width)
{
	struct infoline s = INFOLINE_INIT;
	char a[UNITS_MAX + 8];

	tree_amount(ui, n->total_bytes, a);
	infoline_left(&s, 90, STYLE_PLAIN, "total %s", a);
	if (ui_is_sampled(ui) && ui->tree.value == VALUE_LIVE)
		infoline_join(&s, STYLE_WARN, " %s%s", draw_is_ascii() ? "+-" : "±",
			units_bytes(a, (uint64_t)sqrt(n->error2)));
	tree_amount(ui, n->self_bytes, a);
	if (!ui->tree.inverted)
		infoline_left(&s, 80, STYLE_PLAIN, "self %s", a);
	infoline_left(&s, 75, STYLE_PLAIN, "%s block%s", units_exact(a, n->blocks),
		units_plural(n->blocks));
	infoline_left(&s, 70, STYLE_PLAIN, "%s call site%s", units_exact(a, n->sites),
		units_plural(n->sites));
	if (tree_table_has_changes(ui))
		pane_changes(ui, n, &s);
	else if (ui_moment(ui) != SNAP_PEAK)
		pane_rates(ui, n, &s);
	infoline_draw(&s, y, 1, width - 2);
}

/* The path from the root, without the beginning if that does not fit. */
static void pane_path(const struct ui *ui, uint32_t node, int y, unsigned width)
{
	const char *arrow = draw_glyph(ui->tree.inverted ? GLYPH_CALLED_BY : GLYPH_CALLS);
	char name[COLUMN_TEXT_MAX], path[COLUMN_TEXT_MAX] = "", longer[2 * COLUMN_TEXT_MAX + 8];
	uint32_t n = node;

	for (; n != TREE_ROOT; n = tree_line_node(ui, n)->parent) {
		tree_line_name(ui, tree_line_node(ui, n), 0, NAMES_SHORT, name);
		snprintf(longer, sizeof(longer), "%s%s%s", name, *path ? arrow : "", path);
		if (text_cells(longer) + 8 > width || strlen(longer) >= sizeof(path))
			break;
		strcpy(path, longer);
	}
	snprintf(longer, sizeof(longer), "%s%s%s", n != TREE_ROOT ? draw_glyph(GLYPH_ELLIPSIS) : "",
		n != TREE_ROOT ? arrow : "", path);
	draw_text(y, 1, width - 2, STYLE_DIM, longer);
}

void tree_line_draw_pane(const struct ui *ui, int y)
{
	const struct tree_row *row = tree_line_selected(ui);
	unsigned width = (unsigned)ui->layout.width;
	const struct tree_node *n;

	draw_rule(y, 0, width, "SELECTED");
	if (!row)
		return;
	n = tree_line_node(ui, row->node);
	if (row->small) {
		draw_text(y + 1, 1, width - 2, STYLE_PLAIN,
			"small children: Right shows them all, T sets the limit");
		return;
	}
	if (row->node == TREE_ROOT)
		draw_text(y + 1, 1, width - 2, STYLE_BOLD, "all call stacks");
	else
		pane_name(ui, tree_near(ui, row), y + 1, width);
	pane_numbers(ui, n, y + 2, width);
	pane_path(ui, row->node, y + 3, width);
}
