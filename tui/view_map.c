/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The address space: the parts of resident memory, the mappings, how full of live blocks their
 * pages are, and which call sites pin nearly empty pages. The selection is a row by its id and a
 * page by its address, so both survive the next reading. Main thread.
 */
#include "tui/view_map.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "src/util/units.h"
#include "tui/map_panes.h"
#include "tui/refresh.h"
#include "tui/trail.h"
#include "tui/view_detail.h"
#include "tui/view_sites.h"

#define ZOOM_MOST ((size_t)1 << 20) /* 4 GB in a cell */

static struct list *map_list(struct ui *ui)
{
	return &ui->map.list;
}

static const struct tui_missing *map_missing(const struct ui *ui)
{
	return ui->source->map ? NULL : &ui->source->no_map;
}

/* ---- what is selected ---- */

/* Puts the list's line on the cursor's page. */
static void list_make(struct ui *ui)
{
	struct map_state *st = &ui->map;
	struct map_panes p;

	map_panes_make(&p, ui);
	list_resize(&st->list, (size_t)(p.grid > 0 ? p.grid : 1));
	list_recount(&st->list, map_panes_lines(ui, &p));
	if (st->list.count > 0)
		list_to(&st->list, map_panes_cursor(ui) / (map_panes_zoom(ui, &p) * p.cells));
}

static void cursor_set(struct ui *ui, size_t page)
{
	const struct map_row *row = map_panes_row(ui);

	if (!row || row->pages == 0)
		return;
	page = page < row->pages ? page : row->pages - 1;
	ui->map.cursor = map_page_address(ui->map.map, row, page);
	list_make(ui);
}

/* A key moved the list: the cursor follows, and keeps its column. */
static void map_moved(struct ui *ui)
{
	size_t column, pages, line = ui->map.list.cursor;
	struct map_panes p;

	map_panes_make(&p, ui);
	pages = map_panes_zoom(ui, &p) * p.cells;
	column = map_panes_cursor(ui) % pages;
	cursor_set(ui, line * pages + column);
}

static void row_select(struct ui *ui, size_t row)
{
	ui->map.row = row;
	ui->map.zoom = 0;
	ui->map.part = 0;
	ui->map.has_row = row < ui->map.map->rows;
	if (ui->map.has_row)
		ui->map.row_id = ui->map.map->row[row].id;
	ui->map.cursor = 0;
	cursor_set(ui, 0);
	list_make(ui);
}

/* Follows the selected row; if it is gone, selects the first. */
static void row_follow(struct ui *ui)
{
	struct map_state *st = &ui->map;

	for (size_t i = 0; st->has_row && i < st->map->rows; i++) {
		if (st->map->row[i].id == st->row_id) {
			st->row = i;
			return;
		}
	}
	row_select(ui, 0);
}

static void map_reset(struct ui *ui)
{
	map_unref(ui->map.map);
	ui->map = (struct map_state){ .list.height = ui->map.list.height };
}

static void map_update(struct ui *ui)
{
	struct map *newest = NULL;

	if (ui->source->map && ui->shown && !(ui->frozen && ui->map.map))
		newest = ui->source->map(ui->source->ctx);
	if (newest && newest != ui->map.map && newest->owner == ui->shown->owner) {
		map_unref(ui->map.map);
		map_ref(newest);
		ui->map.map = newest;
		row_follow(ui);
	}
	list_make(ui);
}

/* ---- keys ---- */

void view_map_neighbour(struct ui *ui, int step, int key)
{
	const struct map *m = ui->map.map;

	if (!m)
		ui_message(ui, "no map yet");
	else if (step < 0 ? ui->map.row == 0 : ui->map.row + 1 >= m->rows)
		ui_message(ui, "this is the %s mapping", step < 0 ? "first" : "last");
	else
		row_select(ui, step < 0 ? ui->map.row - 1 : ui->map.row + 1);
}

void view_map_cell(struct ui *ui, int step, int key)
{
	const struct map_row *row = map_panes_row(ui);
	struct map_panes p;
	size_t zoom, page = map_panes_cursor(ui);

	if (row && row->pages == 0) {
		view_map_part(ui, step, key);
		return;
	}
	map_panes_make(&p, ui);
	zoom = map_panes_zoom(ui, &p);
	if (step < 0)
		cursor_set(ui, page >= zoom ? page - zoom : 0);
	else
		cursor_set(ui, page + zoom);
}

void view_map_zoom(struct ui *ui, int in, int key)
{
	struct map_panes p;
	size_t zoom;

	map_panes_make(&p, ui);
	zoom = map_panes_zoom(ui, &p);
	if (in ? zoom == 1 : zoom >= ZOOM_MOST || map_panes_lines(ui, &p) <= 1) {
		ui_message(
			ui, in ? "a cell is one page already" : "all of it is on one line already");
		return;
	}
	ui->map.zoom = in ? zoom / 2 : zoom * 2;
	list_make(ui);
}

/* ---- addresses and parts ---- */

/* Moves the cursor to the part's first page, if it has pages, and describes the part. */
static void part_show(struct ui *ui, size_t part)
{
	const struct map_row *row = &ui->map.map->row[ui->map.row];
	const struct map_span *s = &ui->map.map->span[row->first_span + part];
	char name[MAP_PANES_NAME], size[UNITS_MAX], rss[UNITS_MAX];

	ui->map.part = part;
	if (s->is_fine)
		cursor_set(ui, map_page_at(ui->map.map, row, s->start));
	ui_message(ui, "%s, part %zu of %zu: %" PRIx64 "-%" PRIx64 ", %s, %s resident",
		map_panes_name(ui, row, name), part + 1, row->spans, s->start, s->end,
		units_bytes(size, s->end - s->start), units_bytes(rss, s->rss_bytes));
}

/* The part that the cursor is in; in a row without pages, the one selected last. */
static size_t part_now(const struct ui *ui, const struct map_row *row)
{
	for (size_t i = 0; row->pages && i < row->spans; i++) {
		const struct map_span *s = &ui->map.map->span[row->first_span + i];

		if (s->is_fine && ui->map.cursor >= s->start && ui->map.cursor < s->end)
			return i;
	}
	return ui->map.part < row->spans ? ui->map.part : 0;
}

void view_map_part(struct ui *ui, int step, int key)
{
	const struct map_row *row = map_panes_row(ui);
	size_t now = row ? part_now(ui, row) : 0;

	if (!row || row->spans == 0)
		ui_message(ui, "no mapping here");
	else if (step < 0 ? now == 0 : now + 1 >= row->spans)
		ui_message(ui, "this is the %s part (%zu of %zu)", step < 0 ? "first" : "last",
			now + 1, row->spans);
	else
		part_show(ui, step < 0 ? now - 1 : now + 1);
}

static void address_show(struct ui *ui, uint64_t addr)
{
	const struct map *m = ui->map.map;

	for (size_t r = 0; r < m->rows; r++) {
		for (size_t i = 0; i < m->row[r].spans; i++) {
			const struct map_span *s = &m->span[m->row[r].first_span + i];

			if (addr < s->start || addr >= s->end)
				continue;
			row_select(ui, r);
			part_show(ui, i);
			if (s->is_fine) {
				ui->map.zoom = 1;
				cursor_set(ui, map_page_at(m, &m->row[r], addr));
			}
			return;
		}
	}
	ui_message(ui, "no listed mapping contains the address %" PRIx64, addr);
}

static void address_accept(struct ui *ui, const char *text)
{
	char *end;
	uint64_t addr;

	if (!*text || !ui->map.map)
		return;
	errno = 0;
	addr = strtoull(text, &end, 16);
	/* A range as in /proc/PID/maps, "7f12a4000000-7f12a4021000", means its beginning. */
	if (end == text || errno || !isxdigit((unsigned char)*text) || (*end && *end != '-'))
		ui_message(ui, "\"%s\" is not an address (hexadecimal, with or without 0x)", text);
	else
		address_show(ui, addr);
}

void view_map_address(struct ui *ui, int arg, int key)
{
	if (!ui->map.map)
		ui_message(ui, "no map yet");
	else
		prompt_open(&ui->prompt, "go to address (hex):", "", address_accept);
}

static void site_show(struct ui *ui, uint32_t site)
{
	if (snapshot_is_inherited(site)) {
		ui_message(ui, "mapped before the fork: the call site is in the parent's table");
		return;
	}
	if (!refresh_show_site(ui, site)) {
		ui_message(ui, "this call site is not known yet");
		return;
	}
	view_sites_select(ui, site);
	view_detail_show(ui);
}

uint32_t view_map_site(const struct ui *ui)
{
	const struct map_row *row = map_panes_row(ui);
	struct map_sum sum = { 0 };
	struct map_panes p;
	size_t zoom;

	map_panes_make(&p, ui);
	zoom = map_panes_zoom(ui, &p);
	if (row)
		map_sum(ui->map.map, row, map_panes_cursor(ui) / zoom * zoom, zoom, &sum);
	return row && row->site ? row->site : sum.has_site ? sum.site : 0;
}

void view_map_detail(struct ui *ui, int arg, int key)
{
	uint32_t site = view_map_site(ui);

	if (site)
		site_show(ui, site);
	else
		ui_message(ui, "no live block here");
}

void view_map_pin(struct ui *ui, int arg, int key)
{
	unsigned i = (unsigned)(key - '1');

	if (!ui->map.map || i >= ui->map.map->account.pins)
		ui_message(ui, "no call site has the number %c in PINNED PAGES", key);
	else
		site_show(ui, ui->map.map->account.pin[i].site);
}

void view_map_tab(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) != view_table[VIEW_MAP])
		trail_leave(ui, VIEW_MAP, 1);
	ui_tab(ui, VIEW_MAP);
}

static void map_click(struct ui *ui, int y, int x)
{
	struct map_panes p;
	size_t zoom, line, i;

	map_panes_make(&p, ui);
	if (!ui->map.map)
		return;
	zoom = map_panes_zoom(ui, &p);
	if (y >= p.rows_y && y < p.rows_y + p.rows) {
		i = map_panes_top(ui, &p) + (size_t)(y - p.rows_y);
		if (i < ui->map.map->rows)
			row_select(ui, i);
	} else if (y >= p.grid_y && y < p.grid_y + p.grid && x >= MAP_PANES_ADDRESS &&
		   x < MAP_PANES_ADDRESS + (int)p.cells) {
		line = ui->map.list.top + (size_t)(y - p.grid_y);
		cursor_set(ui, (line * p.cells + (size_t)(x - MAP_PANES_ADDRESS)) * zoom);
	} else if (y >= p.pins_y && y < p.pins_y + p.pins) {
		i = (size_t)(y - p.pins_y);
		if (i < ui->map.map->account.pins)
			site_show(ui, ui->map.map->account.pin[i].site);
	}
}

/* ---- the frame ---- */

static int map_rows(const struct ui *ui)
{
	struct map_panes p;

	map_panes_make(&p, ui);
	return p.grid > 0 ? p.grid : 1;
}

/* The first reading is shown as soon as it arrives, later ones with their snapshots. */
static void map_draw(struct ui *ui)
{
	if (!ui->map.map)
		map_update(ui);
	map_panes_draw(ui);
}

static bool is_running(const struct ui *ui)
{
	return ui->shown && (ui->shown->state == SNAP_RUNNING || ui->shown->state == SNAP_STARTING);
}

/* The age of the reading shown. */
static uint64_t age_ns(const struct ui *ui, const struct map_account *a)
{
	uint64_t now = ui->current ? ui->current->now_realtime_ns : 0;

	return now > a->read_realtime_ns ? now - a->read_realtime_ns : 0;
}

static void map_status(struct ui *ui, char *text, size_t cap)
{
	const struct map_account *a = ui->map.map ? &ui->map.map->account : NULL;
	char bytes[UNITS_MAX], took[UNITS_MAX], every[UNITS_MAX], age[UNITS_MAX];

	if (!a || !a->known)
		return;
	units_duration(age, age_ns(ui, a));
	if (!is_running(ui))
		snprintf(text, cap, "%s", a->note ? a->note : "last read before the program ended");
	else if (a->note && age_ns(ui, a) > a->again_ns)
		snprintf(text, cap, "read %s ago   %s", age, a->note);
	else if (a->note)
		snprintf(text, cap, "%s", a->note);
	else
		snprintf(text, cap, "malloc_trim could release %s   read %s ago, every %s, in %s",
			units_bytes(bytes, a->trim_bytes), age, units_duration(every, a->again_ns),
			units_duration(took, a->took_ns));
}

const struct view view_map = {
	.title = "Map",
	.scope = IN_MAP,
	.flags = LAYOUT_NO_HEAD | LAYOUT_COMPACT,
	.missing = map_missing,
	.open = map_update,
	.update = map_update,
	.moved = map_moved,
	.rows = map_rows,
	.draw = map_draw,
	.status = map_status,
	.list = map_list,
	.click = map_click,
	.reset = map_reset,
};
