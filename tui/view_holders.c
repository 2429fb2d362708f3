/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What holds the heap: the roots of the last leak scan by name, with the bytes that each alone
 * keeps alive; below them the call sites of the blocks that they hold, and of those that these
 * hold. Lines stay open from scan to scan, and the cursor stays on its line. Main thread.
 */
#include "tui/view_holders.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/leak_facts.h"
#include "tui/refresh.h"
#include "tui/site_twins.h"
#include "tui/table.h"
#include "tui/view_detail.h"
#include "tui/view_leaks.h"
#include "tui/view_sites.h"

#define INDENT 2 /* cells a level */

enum { BY_RETAINED, BY_SHARE, BY_BLOCKS, BY_OWN, BY_NAME };

static const struct table_column holder_columns[] = {
	{ "RETAINED", 8, true, 0, "bytes that nothing would reach without it, itself included" },
	{ "%", 5, true, 50, "share of all bytes that the scan found" },
	{ "BLOCKS", 7, true, 60, "number of these blocks" },
	{ "OWN", 7, true, 76, "bytes in this call site's own blocks at this place" },
	{ "HELD BY", 0, false, 0, "a root by its name, and below it call sites" },
};
static unsigned holder_off; /* no column can be switched off */
static const struct table holder_table = { .off = &holder_off,
	.column = holder_columns,
	.count = sizeof(holder_columns) / sizeof(holder_columns[0]) };

static const struct snap_leaks *result_of(const struct ui *ui)
{
	return ui->source->leaks ? ui->source->leaks(ui->source->ctx)->last : NULL;
}

static struct list *holders_list(struct ui *ui)
{
	return &ui->holders.list;
}

/* ---- open lines ---- */

/* Bytes of a root's name that stay: what a thread does in the next scan is something else. */
static size_t root_key(const char *root)
{
	const char *function = strstr(root, ", in ");

	return function ? (size_t)(function - root) : strlen(root);
}

/* The way from the root to a node; its address in every scan. False: too deep for one. */
static bool path_of(const struct snap_leaks *l, uint32_t i, struct holder_path *out)
{
	const struct snap_holder *h = &l->holders[i];

	memset(out, 0, sizeof(*out));
	if (h->depth > HOLDER_PATH_SITES)
		return false;
	out->depth = h->depth;
	for (; !h->root; h = &l->holders[h->parent])
		out->site[h->depth - 1] = h->site;
	snprintf(out->root, sizeof(out->root), "%.*s", (int)root_key(h->root), h->root);
	return true;
}

static bool is_path(const struct holder_path *a, const struct holder_path *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Its place among the open ones; -1: it is closed. */
static int open_at(const struct ui *ui, const struct snap_leaks *l, uint32_t i)
{
	struct holder_path path;

	if (!path_of(l, i, &path))
		return -1;
	for (unsigned k = 0; k < ui->holders.opens; k++)
		if (is_path(&ui->holders.open[k], &path))
			return (int)k;
	return -1;
}

static bool has_children(const struct snap_leaks *l, uint32_t i)
{
	return i + 1 < l->nholders && l->holders[i + 1].parent == i;
}

/* ---- rows ---- */

static bool is_selected(const struct holders_state *st, const struct snap_leaks *l, size_t at)
{
	struct holder_path path;

	return path_of(l, st->row[at], &path) && is_path(&path, &st->selected);
}

/* Remembers the line under the cursor by its path. Roots may have the same name: it is the nth of
 * these. */
static void selection_keep(struct holders_state *st, const struct snap_leaks *l)
{
	size_t cursor = st->list.cursor;

	st->has_selected = cursor < st->list.count && path_of(l, st->row[cursor], &st->selected);
	st->selected_nth = 0;
	for (size_t at = 0; st->has_selected && at < cursor; at++)
		st->selected_nth += is_selected(st, l, at);
}

/* The cursor goes to that line. A cursor that was never moved stays on row 0. */
static void selection_follow(struct holders_state *st, const struct snap_leaks *l)
{
	size_t found = SIZE_MAX, nth = 0;

	if (!st->list.moved || !st->has_selected)
		return;
	for (size_t at = 0; at < st->list.count && nth <= st->selected_nth; at++)
		if (is_selected(st, l, at)) {
			found = at;
			nth++;
		}
	if (found != SIZE_MAX)
		list_follow(&st->list, found);
}

/* The lines: those whose parents are open. */
static void rows_make(struct ui *ui, const struct snap_leaks *l)
{
	struct holders_state *st = &ui->holders;
	size_t n = 0;
	uint32_t closed = UINT32_MAX; /* depth of a closed line, below which nothing is shown */

	st->row = realloc(st->row, (l->nholders + 1) * sizeof(*st->row));
	for (uint32_t i = 0; st->row && i < l->nholders; i++) {
		if (closed != UINT32_MAX && l->holders[i].depth > closed)
			continue;
		st->row[n++] = i;
		closed = open_at(ui, l, i) < 0 ? l->holders[i].depth : UINT32_MAX;
	}
	st->list.count = n;
	selection_follow(st, l);
	list_recount(&st->list, n);
	if (n > 0) /* a result without lines leaves the selection to the next one */
		selection_keep(st, l);
}

/* Without a result that has holders, there are no lines. */
static void holders_update(struct ui *ui)
{
	const struct snap_leaks *l = result_of(ui);

	if (l)
		rows_make(ui, l);
	else
		list_recount(&ui->holders.list, 0);
	ui->holders.version = ui->source->leaks ? ui->source->leaks(ui->source->ctx)->version : 0;
}

/* A scan may have ended since the last snapshot. */
static bool is_behind(const struct ui *ui)
{
	return ui->source->leaks &&
	       ui->source->leaks(ui->source->ctx)->version != ui->holders.version;
}

static const struct snap_leaks *catch_up(struct ui *ui)
{
	if (is_behind(ui))
		holders_update(ui);
	return result_of(ui);
}

static void holders_moved(struct ui *ui)
{
	if (result_of(ui) && !is_behind(ui))
		selection_keep(&ui->holders, result_of(ui));
}

/* The node under the cursor; UINT32_MAX: none. */
static uint32_t selected(struct ui *ui, const struct snap_leaks **l)
{
	*l = catch_up(ui);
	return *l && ui->holders.list.cursor < ui->holders.list.count
		       ? ui->holders.row[ui->holders.list.cursor]
		       : UINT32_MAX;
}

static void holders_reset(struct ui *ui)
{
	free(ui->holders.row);
	ui->holders = (struct holders_state){ .list.height = ui->holders.list.height };
}

/* ---- drawing ---- */

/* `twin`: what tells it from call sites of the same name, or NULL. */
static void name_text(const struct ui *ui, const struct snap_leaks *l, uint32_t i, const char *twin,
	unsigned cells, char out[COLUMN_TEXT_MAX])
{
	const struct snap_holder *h = &l->holders[i];
	const struct snap_site *site = h->root ? NULL : ui_any_site(ui, h->site);
	const char *mark = !has_children(l, i) ? "  " : open_at(ui, l, i) < 0 ? "+ " : "- ";
	char name[COLUMN_TEXT_MAX / 2] = "a call site not known yet", all[COLUMN_TEXT_MAX];
	char place[COLUMN_TEXT_MAX / 4] = "";
	const char *type = h->root ? NULL : leaks_type(l, h->site);
	struct row_style style = ui_style(ui);

	style.site_cells = cells;
	style.twin = twin;
	if (site) {
		site_name(site, &style, name, sizeof(name));
		site_place(site, &style, place, sizeof(place));
	}
	snprintf(all, sizeof(all), "%*s%s%s%s%s%s%s", (int)(h->depth * INDENT), "", mark,
		h->root ? h->root : name, *place ? "  " : "", place, type ? "  " : "",
		type ? type : "");
	text_elide_parts(out, COLUMN_TEXT_MAX, all, cells, draw_is_ascii());
}

static void cell_text(const struct ui *ui, const struct snap_leaks *l, uint32_t i, const char *twin,
	const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	const struct snap_holder *h = &l->holders[i];

	*out = '\0';
	switch (p->column) {
	case BY_RETAINED:
		units_bytes(out, h->all.bytes);
		break;
	case BY_SHARE:
		units_percent(out, h->all.bytes, l->held.bytes);
		break;
	case BY_BLOCKS:
		units_count(out, h->all.blocks);
		break;
	case BY_OWN:
		if (!h->root)
			units_bytes(out, h->own.bytes);
		break;
	default:
		name_text(ui, l, i, twin, p->cells, out);
	}
}

static void line_draw(const struct ui *ui, const struct snap_leaks *l, size_t at, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&holder_table, NULL, ui->layout.width, place);
	bool is_cursor = at == ui->holders.list.cursor;
	enum draw_style style = is_cursor ? STYLE_SELECT : STYLE_PLAIN;
	char text[COLUMN_TEXT_MAX], differs[TWINS_TEXT];
	const char *twin = site_twins_text(ui, at - ui->holders.list.top, differs);

	if (is_cursor) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		cell_text(ui, l, ui->holders.row[at], twin, &place[i], text);
		table_draw_cell(&holder_table, place[i], y, style, text);
	}
}

static const char *empty_text(const struct ui *ui, const struct snap_leaks *l)
{
	if (!l && ui->source->leaks && leak_facts_is_scanning(ui->source->leaks(ui->source->ctx)))
		return "a scan is running: when it ends, what holds the heap is shown here";
	if (!l)
		return "not scanned yet: L scans, and shows what holds the heap";
	return l->no_holders ? l->no_holders : "what holds the heap was not computed";
}

static void head_draw(const struct ui *ui, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&holder_table, NULL, ui->layout.width, place);

	draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_cell(&holder_table, place[i], y, STYLE_HEAD,
			holder_columns[place[i].column].title);
}

static void find_twins(struct ui *ui, const struct snap_leaks *l)
{
	const struct list *list = &ui->holders.list;
	uint32_t id[TWINS_ROWS];
	size_t n = 0;

	for (size_t i = list->top; i < list->count && n < list->height && n < TWINS_ROWS; i++) {
		const struct snap_holder *h = &l->holders[ui->holders.row[i]];

		id[n++] = h->root ? SITE_TWINS_NONE : h->site;
	}
	site_twins_find(ui, id, n);
}

static void holders_draw(struct ui *ui)
{
	const struct snap_leaks *l = catch_up(ui);
	const struct list *list = &ui->holders.list;
	int y = ui->layout.y[ROW_BODY];

	head_draw(ui, ui->layout.y[ROW_HEAD]);
	find_twins(ui, l);
	for (size_t i = 0; i < list->height && list->top + i < list->count; i++)
		line_draw(ui, l, list->top + i, y + (int)i);
	if (list->count == 0)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM, empty_text(ui, l));
}

static bool can_scan(const struct ui *ui)
{
	return view_leaks_can_scan(ui) && !ui->options.readonly;
}

/* Of which moment the lines are: they stay until the next scan. */
static void when_text(const struct ui *ui, const struct snap_leaks *l, char *out, size_t cap)
{
	const struct snapshot *s = ui->shown;
	char ago[UNITS_MAX], live[UNITS_MAX];

	if (l->at_exit || !s || !can_scan(ui) || s->uptime_ns < l->at_ns)
		snprintf(out, cap, " at the scan");
	else
		snprintf(out, cap, ", %s ago; now %s (L scans again)",
			units_duration(ago, s->uptime_ns - l->at_ns),
			units_bytes(live, (s->kinds ? s->base : s)->totals.live_bytes));
}

static void holders_status(struct ui *ui, char *text, size_t cap)
{
	const struct snap_leaks *l = result_of(ui);
	char bytes[UNITS_MAX], blocks[UNITS_MAX], when[UNITS_MAX * 2 + 48];

	if (!l || !l->held.blocks)
		return;
	when_text(ui, l, when, sizeof(when));
	snprintf(text, cap, "%s in %s block%s%s   RETAINED: what freeing a line would free",
		units_bytes(bytes, l->held.bytes), units_count(blocks, l->held.blocks),
		units_plural(l->held.blocks), when);
}

static bool holders_matches(const struct ui *ui, const struct filter *f, size_t at)
{
	const struct snap_leaks *l = result_of(ui);
	char text[COLUMN_TEXT_MAX];

	if (!l || at >= ui->holders.list.count || ui->holders.row[at] >= l->nholders)
		return false;
	name_text(ui, l, ui->holders.row[at], NULL, COLUMN_TEXT_MAX - 1, text);
	return filter_match_text(f, text);
}

static void holders_click(struct ui *ui, int y, int x)
{
	size_t at = ui->holders.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (at >= ui->holders.list.count)
		return;
	list_select(&ui->holders.list, at);
	holders_moved(ui);
}

/* ---- keys ---- */

/* The first time, this is the key that scans. */
static void holders_open(struct ui *ui)
{
	const struct leaks *l = ui->source->leaks(ui->source->ctx);

	if (!ui_push(ui, VIEW_HOLDERS))
		return;
	if (!l->last && !l->failed && l->phase == LEAKS_IDLE && can_scan(ui))
		view_leaks_scan(ui, 0, 0);
}

void view_holders_show(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == view_table[VIEW_HOLDERS])
		ui_pop(ui);
	else if (ui->source->leaks)
		holders_open(ui);
	else
		ui_message(ui,
			"what holds the heap is found by a leak scan: the tab Leaks (F9) says "
			"why there is none");
}

static void line_open(struct ui *ui, const struct snap_leaks *l, uint32_t i)
{
	struct holders_state *st = &ui->holders;

	if (!has_children(l, i) || open_at(ui, l, i) >= 0)
		return;
	if (st->opens == HOLDER_OPENS)
		memmove(st->open, st->open + 1, --st->opens * sizeof(*st->open));
	if (path_of(l, i, &st->open[st->opens]))
		st->opens++;
}

static void line_close(struct ui *ui, const struct snap_leaks *l, uint32_t i)
{
	int at = open_at(ui, l, i);

	if (at >= 0)
		ui->holders.open[at] = ui->holders.open[--ui->holders.opens];
}

static void parent_select(struct ui *ui, const struct snap_leaks *l, uint32_t i)
{
	for (size_t at = ui->holders.list.cursor; at-- > 0;)
		if (ui->holders.row[at] == l->holders[i].parent) {
			list_select(&ui->holders.list, at);
			return;
		}
}

/* A closed line closes to its parent, an open one opens to its first child. */
void view_holders_turn(struct ui *ui, int open, int key)
{
	const struct snap_leaks *l;
	uint32_t i = selected(ui, &l);
	bool is_open = i != UINT32_MAX && open_at(ui, l, i) >= 0;

	if (i == UINT32_MAX)
		return;
	if (open && is_open)
		list_go(&ui->holders.list, LIST_DOWN);
	else if (open)
		line_open(ui, l, i);
	else if (is_open)
		line_close(ui, l, i);
	else
		parent_select(ui, l, i);
	ui->holders.list.moved = true; /* the line is chosen by that */
	holders_moved(ui);
	rows_make(ui, l);
}

void view_holders_enter(struct ui *ui, int arg, int key)
{
	const struct snap_leaks *l;
	uint32_t i = selected(ui, &l), site;

	if (i == UINT32_MAX)
		return;
	site = l->holders[i].site;
	if (l->holders[i].root) {
		view_holders_turn(ui, open_at(ui, l, i) < 0, key);
	} else if (refresh_show_site(ui, site)) {
		view_sites_select(ui, site);
		view_detail_show(ui);
	} else {
		ui_message(ui, "this call site is not known yet");
	}
}

bool view_holders_on_root(const struct ui *ui)
{
	const struct snap_leaks *l = result_of(ui);
	const struct list *list = &ui->holders.list;

	return l && list->cursor < list->count && ui->holders.row[list->cursor] < l->nholders &&
	       l->holders[ui->holders.row[list->cursor]].root;
}

bool view_holders_can(const struct ui *ui)
{
	const struct snap_leaks *l = result_of(ui);

	return l && l->nholders > 0;
}

bool view_holders_is_shown(const struct ui *ui)
{
	return ui_view(ui) == &view_holders;
}

const struct view view_holders = {
	.title = "Holders",
	.scope = IN_HOLDERS,
	.update = holders_update,
	.moved = holders_moved,
	.draw = holders_draw,
	.status = holders_status,
	.list = holders_list,
	.click = holders_click,
	.matches = holders_matches,
	.facts = leak_facts_add,
	.reset = holders_reset,
};
