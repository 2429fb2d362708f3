/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call sites by object file: what the code of each holds, and what is known about its names.
 * Enter shows the sites of one. Main thread.
 */
#include "tui/view_modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/value.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/refresh.h"
#include "tui/trail.h"

#define PANE_LINES  4
#define PANE_HEIGHT 12 /* with fewer body lines there is no pane */

enum modules_by {
	BY_LIVE,
	BY_PERCENT,
	BY_RATE,
	BY_BLOCKS,
	BY_SITES,
	BY_NAMES,
	BY_MODULE,
	BY_BUILD_ID,
	BY_SINCE,
	BY_ALLOC,
	BY_FREED
};

static const struct table_column module_columns[] = {
	{ "LIVE", 6, true, 0, "live bytes of the sites named after its code" },
	{ "%", 5, true, 62, "share of all live bytes" },
	{ "RATE", 9, true, 48, "growth of LIVE per second, over 10 s" },
	{ "BLOCKS", 6, true, 70, "live blocks of these sites" },
	{ "SITES", 6, true, 56, "number of these sites" },
	{ "NAMES", 7, false, 0, "what is known about its code: lines, names, or none" },
	{ "MODULE", 0, false, 0, "the object file" },
	{ "BUILD-ID", 16, false, 110, "identifies its debug information" },
};
/* With changes since a mark, in a range, or in a diff, which has no ALLOC and FREED. */
static const struct table_column since_columns[] = {
	{ "LIVE", 6, true, 0, "live bytes of the sites named after its code" },
	{ "SINCE", 7, true, 0, "growth of LIVE since the mark, or in the range" },
	{ "ALLOC", 6, true, 48, "bytes allocated since, or in the range" },
	{ "FREED", 6, true, 56, "bytes freed since, or in the range" },
	{ "BLOCKS", 6, true, 70, "live blocks of these sites" },
	{ "SITES", 6, true, 84, "number of these sites" },
	{ "MODULE", 0, false, 0, "the object file" },
};
static const struct table_column diff_columns[] = {
	{ "LIVE", 6, true, 0, "live bytes in B" },
	{ "DELTA", 7, true, 0, "the compared figure in B minus that in A" },
	{ "SITES", 6, true, 56, "number of its call sites" },
	{ "MODULE", 0, false, 0, "the object file" },
};
static const unsigned char since_meanings[] = { BY_LIVE, BY_SINCE, BY_ALLOC, BY_FREED, BY_BLOCKS,
	BY_SITES, BY_MODULE };
static const unsigned char diff_meanings[] = { BY_LIVE, BY_SINCE, BY_SITES, BY_MODULE };
static unsigned module_off, changes_off;
static const struct table module_table = { module_columns,
	sizeof(module_columns) / sizeof(module_columns[0]), NULL, &module_off };
static const struct table since_table = { since_columns, sizeof(since_meanings), NULL,
	&changes_off };
static const struct table diff_table = { diff_columns, sizeof(diff_meanings), NULL, &changes_off };

static const char *const names_words[] = {
	[MODULE_ROWS_PENDING] = "pending",
	[MODULE_ROWS_LINES] = "lines",
	[MODULE_ROWS_FUNCTIONS] = "names",
	[MODULE_ROWS_NOTHING] = "none",
};

static struct list *modules_list(struct ui *ui)
{
	return &ui->modules.list;
}

static const struct table *modules_table(const struct ui *ui)
{
	if (ui->shown && ui->shown->compared)
		return &diff_table;
	return ui_counts_since(ui) ? &since_table : &module_table;
}

static enum modules_by modules_meaning(const struct ui *ui, unsigned column)
{
	if (ui->shown && ui->shown->compared)
		return (enum modules_by)diff_meanings[column % sizeof(diff_meanings)];
	if (ui_counts_since(ui))
		return (enum modules_by)since_meanings[column % sizeof(since_meanings)];
	return (enum modules_by)column;
}

static struct table_order *modules_order(struct ui *ui)
{
	return ui_counts_since(ui) ? &ui->modules.changes_order : &ui->modules.order;
}

static unsigned modules_fit(const struct ui *ui, struct table_place place[TABLE_COLUMNS])
{
	return table_fit(modules_table(ui),
		ui_counts_since(ui) ? &ui->modules.changes_order : &ui->modules.order,
		ui->layout.width, place);
}

static const struct module_row *modules_row(const struct ui *ui, size_t row)
{
	return &ui->modules.objects.object[row];
}

static const char *module_name(const struct module_row *o)
{
	return o->module->path[0] ? o->module->path : "(code outside any object file)";
}

/* ---- order -------------------------------------------------------------------------------- */

static int down(double a, double b)
{
	return (a < b) - (a > b);
}

static int modules_by(enum modules_by by, const struct module_row *a, const struct module_row *b)
{
	switch (by) {
	case BY_RATE:
		return down(a->rate_bytes_per_s, b->rate_bytes_per_s);
	case BY_BLOCKS:
		return down((double)a->live_blocks, (double)b->live_blocks);
	case BY_SITES:
		return down((double)a->sites, (double)b->sites);
	case BY_NAMES:
		return -down(module_rows_names(a), module_rows_names(b));
	case BY_MODULE:
		return strcmp(a->module->name, b->module->name);
	case BY_BUILD_ID:
		return strcmp(a->module->build_id, b->module->build_id);
	case BY_SINCE:
		return down((double)a->since_bytes, (double)b->since_bytes);
	case BY_ALLOC:
		return down((double)a->since_alloc, (double)b->since_alloc);
	case BY_FREED:
		return down((double)a->since_freed, (double)b->since_freed);
	case BY_LIVE:
	case BY_PERCENT:
		break;
	}
	return down((double)a->live_bytes, (double)b->live_bytes);
}

static int modules_compare(const void *pa, const void *pb, void *ctx)
{
	struct ui *ui = ctx;
	const struct table_order *o = modules_order(ui);
	const struct module_row *a = pa, *b = pb;
	int by = modules_by(modules_meaning(ui, o->sort), a, b);

	if (o->reverse)
		by = -by;
	if (!by)
		by = down((double)a->live_bytes, (double)b->live_bytes);
	return by ? by : strcmp(a->module->path, b->module->path);
}

/* Known objects keep their order; new ones come after them. */
static void modules_keep_order(struct modules_state *st)
{
	size_t placed = 0;

	for (size_t k = 0; k < st->drawn; k++) {
		for (size_t i = placed; i < st->objects.count; i++) {
			struct module_row found = st->objects.object[i];

			if (found.id != st->ids[k])
				continue;
			st->objects.object[i] = st->objects.object[placed];
			st->objects.object[placed++] = found;
			break;
		}
	}
}

static void modules_remember(struct modules_state *st)
{
	uint64_t *ids = realloc(st->ids, (st->objects.count + 1) * sizeof(*ids));

	st->drawn = 0;
	if (!ids)
		return;
	st->ids = ids;
	while (st->drawn < st->objects.count) {
		st->ids[st->drawn] = st->objects.object[st->drawn].id;
		st->drawn++;
	}
}

static void modules_select_cursor(struct ui *ui)
{
	struct modules_state *st = &ui->modules;

	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = modules_row(ui, st->list.cursor)->id;
}

/* The user moved the cursor. */
static void modules_moved(struct ui *ui)
{
	modules_select_cursor(ui);
	ui->modules.has_chosen = ui->modules.has_selected;
	ui->modules.chosen = ui->modules.selected;
}

static bool modules_follow_row(struct modules_state *st, uint64_t id)
{
	for (size_t i = 0; i < st->objects.count; i++) {
		if (st->objects.object[i].id == id) {
			list_follow(&st->list, i);
			return true;
		}
	}
	return false;
}

static void modules_follow(struct modules_state *st)
{
	if (!st->list.moved || (st->has_chosen && modules_follow_row(st, st->chosen)))
		return;
	if (st->has_selected)
		modules_follow_row(st, st->selected);
}

static void modules_update(struct ui *ui)
{
	struct modules_state *st = &ui->modules;

	st->objects.count = 0;
	if (ui->rows && module_rows_make(&st->objects, ui->rows, ui->show_hidden) == 0 &&
		st->objects.count)
		qsort_r(st->objects.object, st->objects.count, sizeof(struct module_row),
			modules_compare, ui);
	if (ui->hold && !modules_order(ui)->just_chosen)
		modules_keep_order(st);
	modules_order(ui)->just_chosen = false;
	modules_remember(st);
	st->list.count = st->objects.count;
	modules_follow(st);
	list_recount(&st->list, st->objects.count);
	if (st->list.moved)
		modules_select_cursor(ui);
	else
		modules_moved(ui);
}

static void modules_reset(struct ui *ui)
{
	module_rows_free(&ui->modules.objects);
	free(ui->modules.ids);
	ui->modules = (struct modules_state){ .list.height = ui->modules.list.height,
		.order = ui->modules.order,
		.changes_order = ui->modules.changes_order };
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void modules_cell(
	const struct ui *ui, const struct module_row *o, const struct table_place *p, char *out)
{
	const struct value_info *compared = ui->shown->compared;

	switch (modules_meaning(ui, p->column)) {
	case BY_LIVE:
		units_bytes(out, o->live_bytes);
		break;
	case BY_PERCENT:
		units_percent(out, o->live_bytes, ui->shown->totals.live_bytes);
		break;
	case BY_RATE:
		if (ui_moment(ui) == SNAP_PEAK)
			strcpy(out, "-");
		else
			snapshot_growth_text(ui->shown, o->rate_bytes_per_s, out);
		break;
	case BY_BLOCKS:
		units_count(out, o->live_blocks);
		break;
	case BY_SITES:
		units_count(out, o->sites);
		break;
	case BY_NAMES:
		strcpy(out, names_words[module_rows_names(o)]);
		break;
	case BY_BUILD_ID:
		text_elide(out, COLUMN_TEXT_MAX, o->module->build_id, p->cells, false,
			draw_is_ascii());
		break;
	case BY_SINCE:
		units_signed(out, o->since_bytes,
			compared && !compared->bytes ? units_count : units_bytes);
		break;
	case BY_ALLOC:
		units_bytes(out, o->since_alloc);
		break;
	case BY_FREED:
		units_bytes(out, o->since_freed);
		break;
	case BY_MODULE:
		text_elide(out, COLUMN_TEXT_MAX, module_name(o), p->cells, true, draw_is_ascii());
	}
}

static enum draw_style modules_style(
	const struct ui *ui, const struct module_row *o, unsigned column)
{
	return modules_meaning(ui, column) == BY_NAMES &&
			       module_rows_names(o) == MODULE_ROWS_NOTHING
		       ? STYLE_WARN
		       : STYLE_PLAIN;
}

static void modules_draw_row(const struct ui *ui, size_t row, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = modules_fit(ui, place);
	bool selected = row == ui->modules.list.cursor;
	char text[COLUMN_TEXT_MAX];

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		const struct module_row *o = modules_row(ui, row);

		modules_cell(ui, o, &place[i], text);
		table_draw_cell(modules_table(ui), place[i], y,
			selected ? STYLE_SELECT : modules_style(ui, o, place[i].column), text);
	}
}

/* How to get the missing names. */
static const char *modules_advice(const struct module_row *o)
{
	switch (module_rows_names(o)) {
	case MODULE_ROWS_LINES:
		return "functions and lines are known";
	case MODULE_ROWS_PENDING:
		return "names are still being looked up";
	case MODULE_ROWS_FUNCTIONS:
	case MODULE_ROWS_NOTHING:
		break;
	}
	if (!o->module->path[0])
		return "generated at run time: no names are available";
	if (strlen(o->module->build_id) <= 2)
		return "no lines: built without -g or stripped, and no build-id to search by";
	return "no lines: debug information is missing (-dbgsym package, or --debuginfod)";
}

/* The debug file that would have them, or the build-id to find it by. */
static void modules_id(const struct module_row *o, char *text, size_t cap)
{
	const char *id = o->module->build_id;

	if (strlen(id) > 2 && module_rows_names(o) > MODULE_ROWS_LINES)
		snprintf(text, cap, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	else
		snprintf(text, cap, "%s%s", *id ? "build-id " : "", id);
}

static bool modules_has_pane(const struct ui *ui)
{
	return ui->layout.body_height >= PANE_HEIGHT;
}

static void modules_draw_pane(const struct ui *ui, int y)
{
	unsigned width = (unsigned)ui->layout.width;
	char text[COLUMN_TEXT_MAX], cut[COLUMN_TEXT_MAX];
	const struct module_row *o;

	draw_rule(y, 0, width, "SELECTED");
	if (ui->modules.list.cursor >= ui->modules.objects.count)
		return;
	o = modules_row(ui, ui->modules.list.cursor);
	text_elide(cut, sizeof(cut), module_name(o), width - 2, true, draw_is_ascii());
	draw_text(y + 1, 1, width - 2, STYLE_BOLD, cut);
	draw_text(y + 2, 1, width - 2, STYLE_PLAIN, modules_advice(o));
	modules_id(o, text, sizeof(text));
	draw_text(y + 3, 1, width - 2, STYLE_DIM, text);
}

static int modules_rows(const struct ui *ui)
{
	return ui->layout.body_height - (modules_has_pane(ui) ? PANE_LINES : 0);
}

static void modules_draw(struct ui *ui)
{
	const struct list *l = &ui->modules.list;
	int y = ui->layout.y[ROW_BODY];

	table_draw_head(modules_table(ui), modules_order(ui), ui->layout.y[ROW_HEAD],
		(unsigned)ui->layout.width);
	if (!l->count) {
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			!ui->shown ? "waiting for the first snapshot" : "no call site to show");
		return;
	}
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		modules_draw_row(ui, l->top + i, y + (int)i);
	if (modules_has_pane(ui))
		modules_draw_pane(ui, y + modules_rows(ui));
}

static void modules_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->modules.list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count, lack = 0;
	char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];

	for (size_t i = 0; i < l->count; i++)
		lack += module_rows_names(modules_row(ui, i)) > MODULE_ROWS_LINES;
	if (l->count)
		snprintf(text, cap, "%s-%s of %s module%s   %zu without line numbers",
			units_count(a, l->top + 1), units_count(b, end), units_count(c, l->count),
			units_plural(l->count), lack);
}

static bool modules_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	return filter_match_text(f, module_name(modules_row(ui, row)));
}

static void modules_click(struct ui *ui, int y, int x)
{
	size_t row = ui->modules.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (y >= ui->layout.y[ROW_BODY] + modules_rows(ui) || row >= ui->modules.list.count)
		return;
	list_select(&ui->modules.list, row);
	modules_moved(ui);
}

void view_modules_sites(struct ui *ui, int arg, int key)
{
	char text[FILTER_TEXT_MAX];
	const struct module_row *o;

	if (!ui->modules.has_selected) {
		ui_message(ui, "no module is selected");
		return;
	}
	o = modules_row(ui, ui->modules.list.cursor);
	if (!o->module->name[0] || strchr(o->module->name, '"')) {
		ui_message(ui, "no filter can name this module");
		return;
	}
	snprintf(text, sizeof(text), "module:\"/%.100s\"", o->module->name);
	trail_leave(ui, VIEW_SITES, 1);
	if (find_filter_set(ui, text) != 0) {
		trail_end(ui);
		return;
	}
	trail_arrived(ui);
	ui_tab(ui, VIEW_SITES);
	refresh_views(ui);
	ui_message(ui, "the call sites of %s; Esc returns", o->module->name);
}

const struct view view_modules = {
	.title = "Modules",
	.scope = IN_MODULES,
	.update = modules_update,
	.moved = modules_moved,
	.rows = modules_rows,
	.draw = modules_draw,
	.status = modules_status,
	.list = modules_list,
	.click = modules_click,
	.matches = modules_matches,
	.table = modules_table,
	.order = modules_order,
	.reset = modules_reset,
};
