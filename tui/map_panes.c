/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The panes of the Map (map_panes.h). */
#include "tui/map_panes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/map_account.h"
#include "tui/site_twins.h"

#define CELLS_STEP    16u /* so that lines begin at round addresses */
#define CELLS_MOST    128u
#define CLASSES_CELLS 33
#define CLASSES_WIDTH 96 /* of the screen that has room for them */
#define NAME_CELLS    21
#define NAME_NARROW   18
#define SITE_CELLS    32 /* of a call site's name, in titles */
#define ALL_FIGURES   60 /* of the screen that has room for all columns */

/* ---- where ---- */

static unsigned cells_in(int width)
{
	unsigned cells =
		width > (int)CELLS_STEP ? (unsigned)width / CELLS_STEP * CELLS_STEP : CELLS_STEP;

	return cells < CELLS_MOST ? cells : CELLS_MOST;
}

static int clamp(int value, int least, int most)
{
	return value > most ? most : value < least ? least : value;
}

void map_panes_make(struct map_panes *p, const struct ui *ui)
{
	int y = ui->layout.y[ROW_BODY], left = ui->layout.body_height, width = ui->layout.width;
	int rows = ui->map.map ? (int)ui->map.map->rows : 1;

	*p = (struct map_panes){ .account_y = y, .classes_x = -1 };
	p->account = left >= 6 ? map_account_lines(ui, left / 3) : 1;
	left -= p->account + 1;
	p->rows_y = y + p->account + 1;
	p->rows = left < 8 ? clamp(rows, 0, left) : clamp(rows, 1, clamp(left / 4, 3, 12));
	left -= p->rows;
	if (left >= 9)
		p->pins = clamp(left / 4, 2, 12);
	left -= p->pins ? p->pins + 2 : 0;
	p->grid = left >= 3 ? left - 2 : 0;
	p->grid_y = p->rows_y + p->rows + 1;
	p->pins_y = p->grid_y + p->grid + 1 + 2;
	if (width >= CLASSES_WIDTH)
		p->classes_x = width - CLASSES_CELLS;
	p->cells = cells_in((p->classes_x < 0 ? width : p->classes_x - 1) - MAP_PANES_ADDRESS - 1);
}

const struct map_row *map_panes_row(const struct ui *ui)
{
	const struct map *m = ui->map.map;

	return m && ui->map.row < m->rows ? &m->row[ui->map.row] : NULL;
}

size_t map_panes_top(const struct ui *ui, const struct map_panes *p)
{
	size_t rows = (size_t)(p->rows > 0 ? p->rows : 1);

	return ui->map.row < rows ? 0 : ui->map.row - rows + 1;
}

size_t map_panes_zoom(const struct ui *ui, const struct map_panes *p)
{
	const struct map_row *row = map_panes_row(ui);
	size_t cells = p->cells * (size_t)(p->grid > 0 ? p->grid : 1), zoom = 1;

	if (ui->map.zoom)
		return ui->map.zoom;
	while (row && (row->pages + zoom - 1) / zoom > cells)
		zoom *= 2;
	return zoom;
}

size_t map_panes_lines(const struct ui *ui, const struct map_panes *p)
{
	const struct map_row *row = map_panes_row(ui);
	size_t pages = map_panes_zoom(ui, p) * p->cells;

	return row ? (row->pages + pages - 1) / pages : 0;
}

size_t map_panes_cursor(const struct ui *ui)
{
	const struct map_row *row = map_panes_row(ui);
	size_t page = row ? map_page_at(ui->map.map, row, ui->map.cursor) : 0;

	return row && page < row->pages ? page : 0;
}

const char *map_panes_name(const struct ui *ui, const struct map_row *row, char buf[MAP_PANES_NAME])
{
	const struct snap_site *site = ui_any_site(ui, row->site);
	const struct row_style style = ui_style(ui);
	char name[COLUMN_TEXT_MAX], cut[MAP_PANES_NAME - 16];

	if (!site)
		return map_row_name(row, buf);
	site_name(site, &style, name, sizeof(name));
	text_elide(cut, sizeof(cut), name, SITE_CELLS, false, draw_is_ascii());
	snprintf(buf, MAP_PANES_NAME, "%s %s",
		snapshot_is_inherited(site->id) ? "parent's" : snapshot_kind_word(site->kind), cut);
	return buf;
}

/* ---- cells ---- */

enum fill { FILL_ABSENT, FILL_IDLE, FILL_LOW, FILL_HIGH, FILL_FULL, FILL_COUNT };

static const char *const fill_glyph[2][FILL_COUNT] = {
	{ "·", "░", "▒", "▓", "█" },
	{ ".", ":", "-", "+", "#" },
};

static enum fill fill_of(const struct map_sum *s)
{
	uint64_t there = s->present * MAP_PAGE_BYTES;

	if (s->present == 0)
		return FILL_ABSENT;
	if (s->owned == 0)
		return FILL_IDLE;
	if (s->owned * 2 < there)
		return FILL_LOW;
	return s->owned * 10 < there * 9 ? FILL_HIGH : FILL_FULL;
}

/* Draws `cells` cells of `zoom` pages each, from page `first` on; after the last page they stay
 * blank. */
static void cells_draw(const struct map *m, const struct map_row *row, size_t first, size_t zoom,
	int y, int x, unsigned cells)
{
	char text[CELLS_MOST * 4 + 1];
	size_t len = 0;

	for (unsigned i = 0; i < cells && i < CELLS_MOST && first + i * zoom < row->pages; i++) {
		const char *glyph;
		struct map_sum sum;

		map_sum(m, row, first + i * zoom, zoom, &sum);
		glyph = fill_glyph[draw_is_ascii()][fill_of(&sum)];
		memcpy(text + len, glyph, strlen(glyph));
		len += strlen(glyph);
	}
	text[len] = 0;
	draw_text(y, x, cells, STYLE_PLAIN, text);
}

/* ---- mappings ---- */

/* Size, RSS, live, slack and free; on a narrow screen without size and slack. */
static void figures_put(char *text, size_t cap, bool wide, const char *const figure[5])
{
	if (wide)
		snprintf(text, cap, "%7s%7s%7s%7s%7s", figure[0], figure[1], figure[2], figure[3],
			figure[4]);
	else
		snprintf(text, cap, "%7s%7s%7s", figure[1], figure[2], figure[4]);
}

static bool is_wide(const struct ui *ui)
{
	return ui->layout.width >= ALL_FIGURES;
}

static unsigned figures_x(const struct ui *ui)
{
	return is_wide(ui) ? NAME_CELLS : NAME_NARROW;
}

/* The first cell of the occupancy; the screen's width if there is none. */
static unsigned occupancy_x(const struct ui *ui)
{
	return is_wide(ui) ? NAME_CELLS + 5 * 7 + 2 : (unsigned)ui->layout.width;
}

static void rows_head(const struct ui *ui, const struct map_panes *p)
{
	static const char *const heads[] = { "SIZE", "RSS", "LIVE", "SLACK", "FREE" };
	unsigned width = (unsigned)ui->layout.width, x = figures_x(ui);
	char text[64];

	draw_fill(p->rows_y - 1, 0, width, STYLE_HEAD);
	snprintf(text, sizeof(text), "MAPPING %zu of %zu", ui->map.row + 1, ui->map.map->rows);
	draw_text(p->rows_y - 1, 1, x - 1, STYLE_HEAD, text);
	figures_put(text, sizeof(text), is_wide(ui), heads);
	draw_text(p->rows_y - 1, (int)x, width - x, STYLE_HEAD, text);
	if (is_wide(ui))
		draw_text(p->rows_y - 1, (int)occupancy_x(ui), width - occupancy_x(ui), STYLE_HEAD,
			"OCCUPANCY");
}

static void row_figures(const struct ui *ui, const struct map_row *row, char *text, size_t cap)
{
	char size[UNITS_MAX], rss[UNITS_MAX], live[UNITS_MAX] = "-", slack[UNITS_MAX] = "-";
	char unused[UNITS_MAX] = "-";
	const char *const figure[] = { size, rss, live, slack, unused };

	units_bytes(size, row->size_bytes);
	units_bytes(rss, row->rss_bytes);
	if (row->pages > 0) {
		units_bytes(live, row->live_bytes);
		units_bytes(slack, row->slack_bytes);
		units_bytes(unused, row->rss_bytes - row->live_bytes - row->slack_bytes);
	}
	figures_put(text, cap, is_wide(ui), figure);
}

static void row_draw(const struct ui *ui, size_t i, int y)
{
	const struct map *m = ui->map.map;
	const struct map_row *row = &m->row[i];
	unsigned width = (unsigned)ui->layout.width, x = figures_x(ui), end = occupancy_x(ui);
	unsigned cells = width > end + 1 ? width - end - 1 : 0;
	enum draw_style style = i == ui->map.row ? STYLE_SELECT : STYLE_PLAIN;
	char name[MAP_PANES_NAME], text[128];

	if (i == ui->map.row) {
		draw_fill(y, 0, is_wide(ui) ? end - 1 : width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	text_elide(
		text, sizeof(text), map_panes_name(ui, row, name), x - 2, false, draw_is_ascii());
	draw_text(y, 1, x - 1, style, text);
	row_figures(ui, row, text, sizeof(text));
	draw_text(y, (int)x, width - x, style, text);
	cells = cells < CELLS_MOST ? cells : CELLS_MOST;
	if (row->pages > 0 && cells > 0)
		cells_draw(m, row, 0, (row->pages + cells - 1) / cells, y, (int)end, cells);
}

/* ---- pages ---- */

/* "brk heap: 1 cell = 4 pages", and what the cells mean if there is room. */
static void grid_head(const struct ui *ui, const struct map_panes *p, size_t zoom)
{
	const char *const *glyph = fill_glyph[draw_is_ascii()];
	const struct map_row *row = map_panes_row(ui);
	char name[MAP_PANES_NAME], size[UNITS_MAX], title[256];

	if (row->pages == 0)
		snprintf(title, sizeof(title), "%s: parts", map_panes_name(ui, row, name));
	else
		snprintf(title, sizeof(title), "%s, cell %s", map_panes_name(ui, row, name),
			units_bytes(size, zoom * MAP_PAGE_BYTES));
	if (ui->layout.width >= 80 && row->pages > 0)
		snprintf(title + strlen(title), sizeof(title) - strlen(title),
			"  %s full %s <90%% %s <50%% %s free %s absent", glyph[FILL_FULL],
			glyph[FILL_HIGH], glyph[FILL_LOW], glyph[FILL_IDLE], glyph[FILL_ABSENT]);
	draw_rule(p->grid_y - 1, 0,
		(unsigned)(p->classes_x < 0 ? ui->layout.width : p->classes_x - 1), title);
}

static void grid_line(
	const struct ui *ui, const struct map_panes *p, size_t line, size_t zoom, int y)
{
	const struct map *m = ui->map.map;
	const struct map_row *row = map_panes_row(ui);
	size_t first = line * p->cells * zoom, cursor = map_panes_cursor(ui);
	char address[32];
	struct map_sum sum;

	snprintf(address, sizeof(address), "%13" PRIx64, map_page_address(m, row, first));
	draw_text(y, 0, MAP_PANES_ADDRESS, STYLE_DIM, address);
	cells_draw(m, row, first, zoom, y, MAP_PANES_ADDRESS, p->cells);
	if (cursor < first || cursor >= first + p->cells * zoom)
		return;
	map_sum(m, row, cursor / zoom * zoom, zoom, &sum);
	draw_text(y, MAP_PANES_ADDRESS + (int)((cursor - first) / zoom), 1, STYLE_SELECT,
		fill_glyph[draw_is_ascii()][fill_of(&sum)]);
}

/* The site that has most of the page. */
static void cursor_site(const struct ui *ui, const struct map_sum *sum, char *text, size_t cap)
{
	const struct row_style style = ui_style(ui);
	const struct snap_site *site = sum->has_site ? ui_any_site(ui, sum->site) : NULL;
	char name[COLUMN_TEXT_MAX];

	*text = 0;
	if (!site)
		return;
	site_name(site, &style, name, sizeof(name));
	snprintf(text, cap, "   %s%s", sum->pages > 1 ? "emptiest: " : "", name);
}

static void grid_cursor(const struct ui *ui, const struct map_panes *p, size_t zoom)
{
	const struct map_row *row = map_panes_row(ui);
	size_t page = map_panes_cursor(ui) / zoom * zoom;
	char text[COLUMN_TEXT_MAX + 256], cut[COLUMN_TEXT_MAX + 256], site[COLUMN_TEXT_MAX + 16];
	char there[UNITS_MAX], owned[UNITS_MAX], blocks[UNITS_MAX];
	unsigned width = (unsigned)ui->layout.width;
	struct map_sum sum;

	map_sum(ui->map.map, row, page, zoom, &sum);
	cursor_site(ui, &sum, site, sizeof(site));
	snprintf(text, sizeof(text), "%12" PRIx64 "  %s in memory, %s in %s block%s%s",
		map_page_address(ui->map.map, row, page),
		units_bytes(there, sum.present * MAP_PAGE_BYTES), units_bytes(owned, sum.owned),
		units_count(blocks, sum.blocks), units_plural(sum.blocks), site);
	text_elide(cut, sizeof(cut), text, width - 1, false, draw_is_ascii());
	draw_text(p->grid_y + p->grid, 1, width - 1, STYLE_BOLD, cut);
}

/* A row without pages is a list of its mappings; the chosen one is always visible. */
static void parts_draw(const struct ui *ui, const struct map_panes *p, const struct map_row *row)
{
	unsigned width = (unsigned)(p->classes_x < 0 ? ui->layout.width : p->classes_x - 1);
	size_t part = ui->map.part < row->spans ? ui->map.part : 0;
	size_t room = (size_t)p->grid, top = part < room ? 0 : part + 1 - room;

	for (size_t i = top; i < row->spans && i - top < room; i++) {
		const struct map_span *s = &ui->map.map->span[row->first_span + i];
		bool chosen = i == part;
		char text[128], size[UNITS_MAX], rss[UNITS_MAX];

		snprintf(text, sizeof(text), "%12" PRIx64 "-%-12" PRIx64 " %7s  %7s resident",
			s->start, s->end, units_bytes(size, s->end - s->start),
			units_bytes(rss, s->rss_bytes));
		draw_padded(p->grid_y + (int)(i - top), 0, width,
			chosen ? STYLE_SELECT : STYLE_PLAIN, chosen ? ">" : "");
		draw_text(p->grid_y + (int)(i - top), 1, width - 1,
			chosen ? STYLE_SELECT : STYLE_PLAIN, text);
	}
	draw_text(p->grid_y + p->grid, 1, width - 1, STYLE_DIM,
		"no blocks of malloc here: the pages are not read");
}

static void grid_draw(const struct ui *ui, const struct map_panes *p)
{
	const struct map_row *row = map_panes_row(ui);
	size_t zoom = map_panes_zoom(ui, p), lines = map_panes_lines(ui, p);

	grid_head(ui, p, zoom);
	if (row->pages == 0) {
		parts_draw(ui, p, row);
		return;
	}
	for (int i = 0; i < p->grid && ui->map.list.top + (size_t)i < lines; i++)
		grid_line(ui, p, ui->map.list.top + (size_t)i, zoom, p->grid_y + i);
	grid_cursor(ui, p, zoom);
}

/* ---- size classes ---- */

static uint64_t class_waste(const struct map_class *c)
{
	return c->slack_bytes + c->cost_bytes;
}

/* The class that wastes most of those not done yet; the first of equals. -1: none. */
static int class_next(const struct map *m, const bool done[SNAP_SIZE_BUCKETS])
{
	int best = -1;

	for (int i = 0; i < SNAP_SIZE_BUCKETS; i++)
		if (!done[i] && m->class[i].blocks > 0 &&
			(best < 0 || class_waste(&m->class[i]) > class_waste(&m->class[best])))
			best = i;
	return best;
}

static void class_draw(const struct map *m, int i, int y, int x)
{
	const struct map_class *c = &m->class[i];
	char le[UNITS_MAX], blocks[UNITS_MAX], use[UNITS_MAX], waste[UNITS_MAX], text[64];
	bool last = i == SNAP_SIZE_BUCKETS - 1;

	units_bytes(le, snap_size_le((unsigned)(last ? i - 1 : i)));
	snprintf(text, sizeof(text), "%s%-6s %7s %5s%% %7s", last ? ">" : draw_glyph(GLYPH_AT_MOST),
		le, units_count(blocks, c->blocks),
		units_percent(use, c->live_bytes, c->live_bytes + class_waste(c)),
		units_bytes(waste, class_waste(c)));
	draw_text(y, x + 1, CLASSES_CELLS - 1, STYLE_PLAIN, text);
}

/* The size classes that waste most: slack, and free memory beside them on nearly empty pages. */
static void classes_draw(const struct ui *ui, const struct map_panes *p)
{
	bool done[SNAP_SIZE_BUCKETS] = { false };
	const struct map *m = ui->map.map;

	draw_rule(p->grid_y - 1, p->classes_x, CLASSES_CELLS, "SIZE   BLOCKS   USE   WASTE");
	for (int i = 0; i < p->grid; i++) {
		int class = class_next(m, done);

		draw_text(p->grid_y + i, p->classes_x - 1, 1, STYLE_DIM, draw_glyph(GLYPH_VLINE));
		if (class < 0)
			continue;
		done[class] = true;
		class_draw(m, class, p->grid_y + i, p->classes_x);
	}
}

/* ---- who pins ---- */

#define PINS_NARROW 56 /* below this width the names need the room of ALONE and LIVE */

/* Where the name of a site that pins begins. */
static unsigned pin_name_x(unsigned width)
{
	return width < PINS_NARROW ? 19 : 36;
}

static void pin_draw(const struct ui *ui, unsigned i, int y)
{
	const struct map_pin *pin = &ui->map.map->account.pin[i];
	const struct snap_site *site = ui_any_site(ui, pin->site);
	unsigned width = (unsigned)ui->layout.width;
	struct row_style style = ui_style(ui);
	char text[64], name[COLUMN_TEXT_MAX] = "a call site not known yet";
	char place[COLUMN_TEXT_MAX] = "", cut[COLUMN_TEXT_MAX], cost[UNITS_MAX], pages[UNITS_MAX];
	char alone[UNITS_MAX], live[UNITS_MAX], differs[TWINS_TEXT];
	unsigned right = width >= 80 ? width / 4 : 0, at = pin_name_x(width),
		 room = width > at + 1 + right ? width - at - 1 - right : 0;

	style.site_cells = room;
	style.twin = site_twins_text(ui, i, differs);
	if (site) {
		site_name(site, &style, name, sizeof(name));
		site_place(site, &style, place, sizeof(place));
	}
	snprintf(text, sizeof(text), "%c%7s%8s%8s%9s", i < 9 ? (char)('1' + i) : ' ',
		units_bytes(cost, pin->cost_bytes), units_count(pages, pin->pages),
		units_count(alone, pin->alone), units_bytes(live, pin->live_bytes));
	draw_text(y, 1, at - 1, STYLE_PLAIN, text);
	text_elide(cut, sizeof(cut), name, room, false, draw_is_ascii());
	draw_text(y, (int)at, room, STYLE_PLAIN, cut);
	text_elide(cut, sizeof(cut), place, right ? right - 1 : 0, true, draw_is_ascii());
	draw_text(y, (int)(width - right), right, STYLE_PLAIN, cut);
}

static void pins_draw(const struct ui *ui, const struct map_panes *p)
{
	const struct map_account *a = &ui->map.map->account;
	unsigned width = (unsigned)ui->layout.width;
	char title[128], pages[UNITS_MAX], bytes[UNITS_MAX];

	snprintf(title, sizeof(title),
		a->pinned_pages == 1 ? "PINNED PAGES: %s less than half full, %s free in it"
				     : "PINNED PAGES: %s less than half full, %s free in them",
		units_count(pages, a->pinned_pages), units_bytes(bytes, a->pinned_bytes));
	draw_rule(p->pins_y - 2, 0, width, title);
	draw_fill(p->pins_y - 1, 0, width, STYLE_HEAD);
	draw_text(p->pins_y - 1, 1, pin_name_x(width) - 1, STYLE_HEAD,
		"    COST   PAGES   ALONE     LIVE");
	draw_text(p->pins_y - 1, (int)pin_name_x(width), width - pin_name_x(width), STYLE_HEAD,
		"CALL SITE");
	for (unsigned i = 0; i < (unsigned)p->pins && i < a->pins; i++)
		pin_draw(ui, i, p->pins_y + (int)i);
	if (!a->pins)
		draw_text(p->pins_y, 2, width - 2, STYLE_DIM,
			a->sampled  ? "unknown: blocks are sampled"
			: a->forked ? "unknown: blocks from before the fork are not recorded"
				    : "nothing: no page of the heap is less than half full");
}

static void pins_find_twins(struct ui *ui)
{
	const struct map_account *a = &ui->map.map->account;
	uint32_t id[TWINS_ROWS];
	size_t n = 0;

	while (n < a->pins && n < TWINS_ROWS) {
		id[n] = a->pin[n].site;
		n++;
	}
	site_twins_find(ui, id, n);
}

/* ---- all ---- */

void map_panes_draw(struct ui *ui)
{
	const struct map *m = ui->map.map;
	struct map_panes p;
	size_t top;

	map_panes_make(&p, ui);
	if (!m || !m->account.known) {
		draw_text(p.account_y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			m ? m->account.why
			: ui->shown && ui->shown->processes
				? "the map shows a single process: choose it in the list (p)"
				: "reading the address space");
		return;
	}
	map_account_draw(ui, p.account_y, p.account);
	rows_head(ui, &p);
	top = map_panes_top(ui, &p);
	for (int i = 0; i < p.rows && top + (size_t)i < m->rows; i++)
		row_draw(ui, top + (size_t)i, p.rows_y + i);
	if (p.grid && map_panes_row(ui)) {
		grid_draw(ui, &p);
		if (p.classes_x >= 0)
			classes_draw(ui, &p);
	}
	if (p.pins) {
		pins_find_twins(ui);
		pins_draw(ui, &p);
	}
}
