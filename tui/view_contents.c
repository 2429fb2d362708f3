/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a scan found in blocks: for each call site the bytes that are copies of other blocks, those
 * of blocks that are zeros, and zeros at the ends of blocks. Only a key asks for it, it is read
 * from a copy of the program, and no report has it. Main thread.
 */
#include "tui/view_contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/leak_facts.h"
#include "tui/refresh.h"
#include "tui/site_twins.h"
#include "tui/table.h"
#include "tui/view_detail.h"
#include "tui/view_sites.h"

enum { BY_COPIES, BY_SHARE, BY_EQUAL, BY_ZEROS, BY_TAILS, BY_READ, BY_NAME };

static const struct table_column contents_columns[] = {
	{ "COPIES", 7, true, 0, "bytes in blocks with the same contents as another block" },
	{ "%", 5, true, 50, "their share of the call site's bytes" },
	{ "EQUAL", 7, true, 60, "number of these blocks" },
	{ "ZEROS", 7, true, 0, "bytes in blocks that contain only zeros" },
	{ "TAILS", 7, true, 0, "zeros at the ends of blocks: 64 bytes or more, or half a block" },
	{ "BYTES", 7, true, 76, "all bytes of the call site's blocks at the scan" },
	{ "CALL SITE", 0, false, 0, "the function that allocated them" },
};
static unsigned contents_off; /* no column can be switched off */
static const struct table contents_table = { .off = &contents_off,
	.column = contents_columns,
	.count = sizeof(contents_columns) / sizeof(contents_columns[0]) };

static const struct leaks *state_of(const struct ui *ui)
{
	return ui->source->leaks ? ui->source->leaks(ui->source->ctx) : NULL;
}

static const struct snap_leaks *result_of(const struct ui *ui)
{
	return state_of(ui) ? state_of(ui)->last : NULL;
}

static struct list *contents_list(struct ui *ui)
{
	return &ui->contents.list;
}

/* ---- rows ---- */

/* What could be spared at most. */
static uint64_t spare(const struct snap_contents *c)
{
	return c->copies.bytes + c->zero.bytes + c->tail.bytes;
}

static int contents_order(const void *left, const void *right, void *ctx)
{
	const struct snap_leaks *l = ctx;
	const struct snap_contents *a = &l->contents[*(const uint32_t *)left];
	const struct snap_contents *b = &l->contents[*(const uint32_t *)right];

	if (spare(a) != spare(b))
		return spare(a) > spare(b) ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static void selection_keep(struct contents_state *st, const struct snap_leaks *l)
{
	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = l->contents[st->row[st->list.cursor]].site;
}

/* The cursor stays on its call site. A cursor that was never moved stays on row 0. */
static void selection_follow(struct contents_state *st, const struct snap_leaks *l)
{
	if (!st->list.moved || !st->has_selected)
		return;
	for (size_t at = 0; at < st->list.count; at++)
		if (l->contents[st->row[at]].site == st->selected) {
			list_follow(&st->list, at);
			return;
		}
}

/* Sites with nothing to spare have no row. */
static void rows_make(struct ui *ui, const struct snap_leaks *l)
{
	struct contents_state *st = &ui->contents;
	uint32_t *row = realloc(st->row, (l->ncontents + 1) * sizeof(*row));
	size_t n = 0;

	st->row = row ? row : st->row;
	for (uint32_t i = 0; row && i < l->ncontents; i++)
		if (spare(&l->contents[i]) > 0)
			row[n++] = i;
	if (n > 0)
		qsort_r(row, n, sizeof(*row), contents_order, (void *)(uintptr_t)l);
	st->list.count = n;
	selection_follow(st, l);
	list_recount(&st->list, n);
	if (n > 0) /* a result without rows leaves the selection to the next one */
		selection_keep(st, l);
}

static void contents_update(struct ui *ui)
{
	const struct snap_leaks *l = result_of(ui);

	if (l)
		rows_make(ui, l);
	else
		list_recount(&ui->contents.list, 0);
	ui->contents.version = state_of(ui) ? state_of(ui)->version : 0;
}

/* A scan may have ended since the last snapshot. */
static bool is_behind(const struct ui *ui)
{
	return state_of(ui) && state_of(ui)->version != ui->contents.version;
}

static const struct snap_leaks *catch_up(struct ui *ui)
{
	if (is_behind(ui))
		contents_update(ui);
	return result_of(ui);
}

static void contents_moved(struct ui *ui)
{
	if (result_of(ui) && !is_behind(ui))
		selection_keep(&ui->contents, result_of(ui));
}

static void contents_reset(struct ui *ui)
{
	free(ui->contents.row);
	ui->contents = (struct contents_state){ .list.height = ui->contents.list.height };
}

/* ---- drawing ---- */

/* `twin`: what tells it from call sites of the same name, or NULL. */
static void name_text(const struct ui *ui, uint32_t id, const char *twin, unsigned cells,
	char out[COLUMN_TEXT_MAX])
{
	char name[COLUMN_TEXT_MAX / 2] = "a call site not known yet", all[COLUMN_TEXT_MAX];
	const struct snap_site *site = ui_any_site(ui, id);
	char place[COLUMN_TEXT_MAX / 4] = "";
	struct row_style style = ui_style(ui);

	style.site_cells = cells;
	style.twin = twin;
	if (site) {
		site_name(site, &style, name, sizeof(name));
		site_place(site, &style, place, sizeof(place));
	}
	snprintf(all, sizeof(all), "%s%s%s", name, *place ? "  " : "", place);
	text_elide(out, COLUMN_TEXT_MAX, all, cells, false, draw_is_ascii());
}

static void bytes_text(const struct snap_leak_sum *s, char out[COLUMN_TEXT_MAX])
{
	if (s->blocks)
		units_bytes(out, s->bytes);
}

static void cell_text(const struct ui *ui, const struct snap_contents *c, const char *twin,
	const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	*out = '\0';
	switch (p->column) {
	case BY_COPIES:
		bytes_text(&c->copies, out);
		break;
	case BY_SHARE:
		if (c->copies.blocks)
			units_percent(out, c->copies.bytes, c->read.bytes);
		break;
	case BY_EQUAL:
		if (c->copies.blocks)
			units_count(out, c->copies.blocks);
		break;
	case BY_ZEROS:
		bytes_text(&c->zero, out);
		break;
	case BY_TAILS:
		bytes_text(&c->tail, out);
		break;
	case BY_READ:
		bytes_text(&c->read, out);
		break;
	default:
		name_text(ui, c->site, twin, p->cells, out);
	}
}

static void line_draw(const struct ui *ui, const struct snap_leaks *l, size_t at, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&contents_table, NULL, ui->layout.width, place);
	bool is_selected = at == ui->contents.list.cursor;
	enum draw_style style = is_selected ? STYLE_SELECT : STYLE_PLAIN;
	char text[COLUMN_TEXT_MAX], differs[TWINS_TEXT];
	const char *twin = site_twins_text(ui, at - ui->contents.list.top, differs);

	if (is_selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		cell_text(ui, &l->contents[ui->contents.row[at]], twin, &place[i], text);
		table_draw_cell(&contents_table, place[i], y, style, text);
	}
}

static void head_draw(const struct ui *ui, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&contents_table, NULL, ui->layout.width, place);

	draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_cell(&contents_table, place[i], y, STYLE_HEAD,
			contents_columns[place[i].column].title);
}

static const char *empty_text(const struct ui *ui, const struct snap_leaks *l)
{
	if (leak_facts_is_scanning(state_of(ui)))
		return "scanning a copy of the program; Esc cancels";
	if (l && l->no_contents)
		return l->no_contents;
	if (state_of(ui)->failed)
		return state_of(ui)->failed;
	return l && l->contents
		       ? "no block is a copy of another, and none is zeros"
		       : "not read yet: U reads the contents of blocks from a copy of the program";
}

static void find_twins(struct ui *ui, const struct snap_leaks *l)
{
	const struct list *list = &ui->contents.list;
	uint32_t id[TWINS_ROWS];
	size_t n = 0;

	for (size_t i = list->top; i < list->count && n < list->height && n < TWINS_ROWS; i++)
		id[n++] = l->contents[ui->contents.row[i]].site;
	site_twins_find(ui, id, n);
}

static void contents_draw(struct ui *ui)
{
	const struct snap_leaks *l = catch_up(ui);
	const struct list *list = &ui->contents.list;
	int y = ui->layout.y[ROW_BODY];

	head_draw(ui, ui->layout.y[ROW_HEAD]);
	find_twins(ui, l);
	for (size_t i = 0; i < list->height && list->top + i < list->count; i++)
		line_draw(ui, l, list->top + i, y + (int)i);
	if (list->count == 0)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM, empty_text(ui, l));
}

static void contents_status(struct ui *ui, char *text, size_t cap)
{
	const struct snap_leaks *l = result_of(ui);
	const struct snap_contents *all = l ? &l->all_contents : NULL;
	char bytes[UNITS_MAX], copies[UNITS_MAX], zeros[UNITS_MAX], tails[UNITS_MAX];

	if (l && l->contents)
		snprintf(text, cap,
			"of %s%s scanned: %s%% copies, %s%% all zeros, %s%% zeros at ends",
			units_bytes(bytes, all->read.bytes), l->contents_whole ? "" : " (not all)",
			units_percent(copies, all->copies.bytes, all->read.bytes),
			units_percent(zeros, all->zero.bytes, all->read.bytes),
			units_percent(tails, all->tail.bytes, all->read.bytes));
}

static bool contents_matches(const struct ui *ui, const struct filter *f, size_t at)
{
	const struct snap_leaks *l = result_of(ui);
	char text[COLUMN_TEXT_MAX];

	if (!l || at >= ui->contents.list.count || ui->contents.row[at] >= l->ncontents)
		return false;
	name_text(ui, l->contents[ui->contents.row[at]].site, NULL, COLUMN_TEXT_MAX - 1, text);
	return filter_match_text(f, text);
}

static void contents_click(struct ui *ui, int y, int x)
{
	size_t at = ui->contents.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (at >= ui->contents.list.count)
		return;
	list_select(&ui->contents.list, at);
	contents_moved(ui);
}

/* ---- keys ---- */

static bool is_known(const struct ui *ui)
{
	const struct snap_leaks *l = result_of(ui);

	return l && (l->contents || l->no_contents);
}

void view_contents_show(struct ui *ui, int arg, int key)
{
	bool here = ui_view(ui) == view_table[VIEW_CONTENTS];
	char text[UI_MESSAGE_MAX] = "";

	if (!ui->source->leaks || !ui->source->leaks_scan) {
		ui_message(ui,
			"equal blocks and zeros are read from the program's memory, which is "
			"not here");
		return;
	}
	if (!here && !ui_push(ui, VIEW_CONTENTS))
		return;
	if ((!here && is_known(ui)) || !ui_program_runs(ui) || ui_moment(ui) != SNAP_NOW ||
		ui_is_replaced(ui))
		return;
	if (ui->source->leaks_scan(ui->source->ctx, true, text, sizeof(text)) != 0)
		ui_message(ui, "%s", text);
}

void view_contents_enter(struct ui *ui, int arg, int key)
{
	const struct snap_leaks *l = catch_up(ui);
	const struct list *list = &ui->contents.list;
	uint32_t site;

	if (!l || list->cursor >= list->count)
		return;
	site = l->contents[ui->contents.row[list->cursor]].site;
	if (!refresh_show_site(ui, site)) {
		ui_message(ui, "this call site is not known yet");
		return;
	}
	view_sites_select(ui, site);
	view_detail_show(ui);
}

const struct view view_contents = {
	.title = "Contents",
	.scope = IN_CONTENTS,
	.update = contents_update,
	.moved = contents_moved,
	.draw = contents_draw,
	.status = contents_status,
	.list = contents_list,
	.click = contents_click,
	.matches = contents_matches,
	.facts = leak_facts_add,
	.reset = contents_reset,
};
