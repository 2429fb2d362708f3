/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree: the calls that lead to allocations, and the live bytes of each.
 * src/model/tree_rows.c makes the lines; this file draws them and handles the keys. The selection
 * is a path, not a line: it keeps its line on the screen while the tree around it changes. Main
 * thread.
 */
#include "tui/view_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/detail_source.h"
#include "tui/trail.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/table.h"
#include "tui/tree_line.h"
#include "tui/tree_table.h"
#include "tui/view_detail.h"
#include "tui/view_sites.h"

static struct list *tree_list(struct ui *ui)
{
	return &ui->tree.list;
}

void view_tree_reset(struct ui *ui)
{
	struct tree_state *st = &ui->tree;

	for (int i = 0; i < 4; i++)
		tree_free(&st->tree[i / 2][i % 2]);
	tree_rows_free(&st->rows);
	st->zooms = 0;
	st->has_selected = st->has_chosen = false;
	st->list = (struct list){ .height = st->list.height };
}

/* ---- what is where ------------------------------------------------------------------------ */

static void tree_select_cursor(struct ui *ui)
{
	struct tree_state *st = &ui->tree;
	const struct tree_row *row = tree_line_selected(ui);

	st->has_selected = row != NULL;
	if (!row)
		return;
	st->selected = tree_line_node(ui, row->node)->id;
	st->selected_small = row->small != 0;
}

/* The user moved the cursor. */
static void tree_moved(struct ui *ui)
{
	struct tree_state *st = &ui->tree;

	tree_select_cursor(ui);
	st->has_chosen = st->has_selected;
	st->chosen = st->selected;
	st->chosen_small = st->selected_small;
}

/* The line of the chosen node, or of the line that it is folded into. If a filter hides both: of
 * the node under the cursor. */
static size_t tree_selected_row(struct ui *ui)
{
	struct tree_state *st = &ui->tree;
	uint32_t node = st->has_chosen ? tree_find(tree_table_tree(ui), st->chosen) : TREE_NONE;
	bool small = node != TREE_NONE ? st->chosen_small : st->selected_small;
	size_t row;

	if (node == TREE_NONE && st->has_selected)
		node = tree_find(tree_table_tree(ui), st->selected);
	if (node == TREE_NONE)
		return st->list.cursor;
	row = tree_rows_find(&st->rows, tree_table_tree(ui), node);
	for (size_t i = row; small && i < st->rows.count; i++)
		if (st->rows.row[i].small && st->rows.row[i].node == node)
			return i;
	return row;
}

/* The node that is zoomed into; zooms into nodes that are gone end. */
static uint32_t tree_root(struct ui *ui)
{
	struct tree_state *st = &ui->tree;
	uint32_t root = TREE_ROOT;

	while (st->zooms) {
		root = tree_find(tree_table_tree(ui), st->zoom[st->zooms - 1]);
		if (root != TREE_NONE)
			return root;
		st->zooms--;
		root = TREE_ROOT;
	}
	return root;
}

static void tree_view_update(struct ui *ui)
{
	struct tree_state *st = &ui->tree;
	struct table_order *order = tree_table_order(ui);
	struct tree_rows_request wish = { .sort = tree_table_meaning(ui, order->sort),
		.reverse = order->reverse,
		.hold = ui->hold && !order->just_chosen,
		.least_permille = st->least_permille };

	st->rows.count = 0;
	tree_table_tree(ui)->value = st->value;
	if (ui->rows &&
		tree_update(tree_table_tree(ui), ui->rows, st->inverted, ui->show_hidden) == 0) {
		wish.root = tree_root(ui);
		tree_rows_make(&st->rows, tree_table_tree(ui), &wish);
	}
	order->just_chosen = false;
	st->list.count = st->rows.count;
	if (st->list.moved && (st->has_chosen || st->has_selected) && st->rows.count)
		list_follow(&st->list, tree_selected_row(ui));
	list_recount(&st->list, st->rows.count);
	if (st->list.moved)
		tree_select_cursor(ui);
	else
		tree_moved(ui);
}

void view_tree_value(struct ui *ui)
{
	static const enum snap_value values[] = { VALUE_LIVE, VALUE_ALLOCATED, VALUE_ALLOCS,
		VALUE_TEMPORARY, VALUE_PEAK };
	const unsigned n = sizeof(values) / sizeof(values[0]);
	unsigned at = 0;

	while (values[at] != ui->tree.value)
		at++;
	do
		at = (at + 1) % n;
	while (ui->shown && !value_known(&ui->shown->totals, values[at]));
	ui->tree.value = values[at];
	tree_view_update(ui);
	ui_message(ui, "TOTAL and SELF are %s (c: the next figure)",
		value_table[ui->tree.value].title);
}

/* The user changed the lines: the cursor stays on its node. */
static void tree_changed(struct ui *ui)
{
	ui->tree.list.moved = true;
	tree_view_update(ui);
	ui->tree.list.line = ui->tree.list.cursor - ui->tree.list.top;
}

static void tree_select_node(struct ui *ui, uint32_t node)
{
	list_select(&ui->tree.list, tree_rows_find(&ui->tree.rows, tree_table_tree(ui), node));
	tree_moved(ui);
}

/* ---- the view ----------------------------------------------------------------------------- */

static int tree_rows(const struct ui *ui)
{
	return ui->layout.body_height - (tree_line_has_pane(ui) ? TREE_LINE_PANE : 0);
}

static void tree_draw(struct ui *ui)
{
	const struct list *l = &ui->tree.list;
	int y = ui->layout.y[ROW_BODY];

	table_draw_head(tree_table_columns(ui), tree_table_order(ui), ui->layout.y[ROW_HEAD],
		(unsigned)ui->layout.width);
	if (!l->count) {
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			ui->shown ? "no call sites yet: the program has not allocated anything"
				  : "waiting for the first snapshot");
		return;
	}
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		tree_line_draw(ui, l->top + i, y + (int)i);
	if (tree_line_has_pane(ui))
		tree_line_draw_pane(ui, y + tree_rows(ui));
}

static void tree_status(struct ui *ui, char *text, size_t cap)
{
	const struct tree_state *st = &ui->tree;
	const struct list *l = &st->list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count;
	char first[UNITS_MAX], last[UNITS_MAX], all[UNITS_MAX];

	if (l->count)
		snprintf(text, cap, "%s-%s of %s line%s   children below %g%% are folded (T)   %s",
			units_count(first, l->top + 1), units_count(last, end),
			units_count(all, l->count), units_plural(l->count),
			st->least_permille / 10.0, l->moved ? "> keeps its line" : "");
}

static void tree_facts(const struct ui *ui, struct infoline *s)
{
	const struct tree_state *st = &ui->tree;
	char name[COLUMN_TEXT_MAX];

	infoline_right(s, 84, STYLE_BOLD, "%s",
		st->inverted ? "BOTTOM-UP: callers (i)" : "TOP-DOWN (i inverts)");
	if (st->value != VALUE_LIVE)
		infoline_right(s, 95, STYLE_WARN, "%s", value_table[st->value].title);
	if (!st->zooms || !st->rows.count)
		return;
	tree_line_name(ui, tree_line_node(ui, st->rows.row[0].node), 24, NAMES_SHORT, name);
	infoline_right(s, 86, STYLE_WARN, "root: %s (Bksp)", name);
}

static void tree_click(struct ui *ui, int y, int x)
{
	struct list *l = &ui->tree.list;
	size_t row = l->top + (size_t)(y - ui->layout.y[ROW_BODY]);
	bool again = row == l->cursor && ui->tree.list.moved;

	if (y >= ui->layout.y[ROW_BODY] + tree_rows(ui) || row >= l->count)
		return;
	list_select(l, row);
	l->moved = true;
	tree_moved(ui);
	if (again)
		view_tree_toggle(ui, 0, 0);
}

/* ---- keys --------------------------------------------------------------------------------- */

static bool tree_is_open(const struct ui *ui, const struct tree_row *row)
{
	return !row->small && row->has_children &&
	       (tree_line_node(ui, row->node)->marks & TREE_ROWS_OPEN);
}

static void tree_mark(struct ui *ui, uint32_t node, unsigned set, unsigned clear)
{
	struct tree_node *n = &tree_table_tree(ui)->node[node];

	n->marks = (unsigned char)((n->marks | set) & ~clear);
	tree_moved(ui);
	tree_changed(ui);
}

void view_tree_open(struct ui *ui, int arg, int key)
{
	const struct tree_row *row = tree_line_selected(ui);

	if (!row)
		return;
	if (row->small)
		tree_mark(ui, row->node, TREE_ROWS_ALL, 0);
	else if (!row->has_children)
		ui_message(ui, "nothing below this line; Enter shows the call site");
	else if (!tree_is_open(ui, row))
		tree_mark(ui, row->node, TREE_ROWS_OPEN | TREE_ROWS_DECIDED, 0);
	else if (key != '+')
		ui_move(ui, LIST_DOWN);
}

void view_tree_parent(struct ui *ui, int arg, int key)
{
	const struct tree_row *row = tree_line_selected(ui);

	if (!row)
		return;
	if (row->level == 0)
		ui_message(ui, ui->tree.zooms ? "this is the root; Backspace zooms out"
					      : "nothing above the root (? is help)");
	else
		tree_select_node(
			ui, row->small ? row->node : tree_line_node(ui, row->first)->parent);
}

void view_tree_close(struct ui *ui, int arg, int key)
{
	const struct tree_row *row = tree_line_selected(ui);

	if (row && tree_is_open(ui, row) && row->level)
		tree_mark(ui, row->node, 0, TREE_ROWS_OPEN | TREE_ROWS_ALL);
	else if (row && key != '-')
		view_tree_parent(ui, 0, key);
}

void view_tree_toggle(struct ui *ui, int arg, int key)
{
	const struct tree_row *row = tree_line_selected(ui);

	if (row && tree_is_open(ui, row))
		view_tree_close(ui, 0, '-');
	else
		view_tree_open(ui, 0, '+');
}

void view_tree_all(struct ui *ui, int open, int key)
{
	const struct tree_row *row = tree_line_selected(ui);

	if (!row)
		return;
	tree_rows_open_all(tree_table_tree(ui), row->node, open != 0);
	tree_moved(ui);
	tree_changed(ui);
	ui_message(ui,
		open ? "everything below the line is open" : "everything below the line is closed");
}

void view_tree_invert(struct ui *ui, int arg, int key)
{
	struct tree_state *st = &ui->tree;

	st->inverted = !st->inverted;
	st->zooms = 0;
	st->list = (struct list){ .height = st->list.height };
	tree_view_update(ui);
	ui_message(ui,
		st->inverted ? "bottom-up: the functions that allocate, each with its callers below"
			     : "top-down: from main to the functions that allocate");
}

void view_tree_zoom(struct ui *ui, int in, int key)
{
	struct tree_state *st = &ui->tree;
	const struct tree_row *row = tree_line_selected(ui);

	if (in && row && row->level && !row->small && st->zooms < TREE_ZOOMS) {
		st->zoom[st->zooms++] = tree_line_node(ui, row->node)->id;
	} else if (!in && st->zooms) {
		st->zooms--;
	} else if (!in && trail_back(ui)) {
		return;
	} else {
		ui_message(ui, in ? "select a function below the root to zoom into"
				  : "not zoomed in; z zooms in");
		return;
	}
	tree_changed(ui);
}

void view_tree_least(struct ui *ui, int arg, int key)
{
	static const unsigned steps[] = { 10, 1, 0, 50 };
	struct tree_state *st = &ui->tree;
	unsigned i = 0;

	while (i < 3 && steps[i] != st->least_permille)
		i++;
	st->least_permille = steps[(i + 1) % 4];
	tree_rows_forget_shown(tree_table_tree(ui));
	tree_changed(ui);
	if (st->least_permille)
		ui_message(ui, "children below %g%% of the root are folded into one line",
			st->least_permille / 10.0);
	else
		ui_message(ui, "no children are folded");
}

/* How much a site has of what the tree shows: of live bytes, or of changes. */
static uint64_t tree_weight(const struct ui *ui, const struct snap_site *site)
{
	int64_t delta = snapshot_delta(site);

	if (!tree_table_has_changes(ui))
		return site->live_bytes;
	if (ui->shown->compared)
		return delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
	return site->since.alloc_bytes + snapshot_since_freed(&site->since);
}

/* The site with most of it below a node. */
static const struct snap_site *tree_largest_site(struct ui *ui, uint32_t node)
{
	const struct snap_site *best = NULL;

	for (size_t i = 0; i < ui->rows->nsites; i++) {
		const struct snap_site *site = &ui->rows->sites[i];
		uint32_t leaf = tree_leaf_of(tree_table_tree(ui), site->id);

		if (leaf != TREE_NONE && tree_is_below(tree_table_tree(ui), leaf, node) &&
			(!best || tree_weight(ui, site) > tree_weight(ui, best)))
			best = site;
	}
	return best;
}

void view_tree_detail(struct ui *ui, int arg, int key)
{
	const struct tree_row *row = tree_line_selected(ui);
	const struct snap_site *site;
	uint64_t sites;

	if (!row || row->small) {
		view_tree_open(ui, 0, key);
		return;
	}
	site = tree_largest_site(ui, row->node);
	sites = tree_line_node(ui, row->node)->sites;
	if (!site)
		return;
	view_sites_select(ui, site->id);
	view_detail_show(ui);
	if (sites > 1)
		ui_message(ui, "the largest of the %" PRIu64 " call sites below that line", sites);
}

void view_tree_edit(struct ui *ui)
{
	const struct tree_row *row = tree_line_selected(ui);
	const struct snap_site *site = row && !row->small ? tree_largest_site(ui, row->node) : NULL;

	if (site && row->node != TREE_ROOT)
		detail_source_edit_frame(ui, site->stack, &tree_line_node(ui, row->node)->frame);
	else
		ui_message(ui, "no frame is selected");
}

/* Opens the path to a node, and selects it. */
static void tree_show(struct ui *ui, uint32_t node)
{
	struct tree_state *st = &ui->tree;

	st->chosen = tree_line_node(ui, node)->id;
	st->chosen_small = false;
	st->has_chosen = true;
	for (uint32_t n = node; n != TREE_ROOT; n = tree_line_node(ui, n)->parent) {
		tree_table_tree(ui)->node[n].marks |= TREE_ROWS_SHOWN;
		if (n != node)
			tree_table_tree(ui)->node[n].marks |= TREE_ROWS_OPEN | TREE_ROWS_DECIDED;
	}
	tree_changed(ui);
}

void view_tree_show_site(struct ui *ui, uint32_t site)
{
	uint32_t node;

	ui->tree.zooms = 0;
	tree_view_update(ui);
	node = tree_leaf_of(tree_table_tree(ui), site);
	if (node != TREE_NONE)
		tree_show(ui, node);
}

static bool tree_matches(const struct ui *ui, const struct filter *f, size_t at)
{
	const struct tree_row *row = &ui->tree.rows.row[at];
	uint32_t n = row->node;

	while (!row->small && row->node != TREE_ROOT) {
		if (filter_match_frame(f, &tree_line_node(ui, n)->frame))
			return true;
		if (n == row->first)
			break;
		n = tree_line_node(ui, n)->parent;
	}
	return false;
}

/* The matching node with most live bytes, folded away or not. */
static bool tree_reveal(struct ui *ui, const struct filter *f)
{
	const struct tree *t = tree_table_tree(ui);
	uint32_t best = TREE_NONE;

	for (uint32_t i = 1; i < t->count; i++)
		if ((t->node[i].total_bytes || t->node[i].moved) &&
			filter_match_frame(f, &t->node[i].frame) &&
			(best == TREE_NONE || t->node[i].total_bytes > t->node[best].total_bytes))
			best = i;
	if (best == TREE_NONE)
		return false;
	if (!tree_is_below(t, best, tree_root(ui)))
		ui->tree.zooms = 0;
	tree_show(ui, best);
	return true;
}

const struct view view_tree = {
	.title = "Tree",
	.scope = IN_TREE,
	.update = tree_view_update,
	.moved = tree_moved,
	.rows = tree_rows,
	.draw = tree_draw,
	.status = tree_status,
	.list = tree_list,
	.click = tree_click,
	.matches = tree_matches,
	.reveal = tree_reveal,
	.table = tree_table_columns,
	.order = tree_table_order,
	.facts = tree_facts,
	.reset = view_tree_reset,
};
