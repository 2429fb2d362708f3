/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One site in depth: its totals, its whole stack with inlined frames, the source of the frame under
 * the cursor, and the sections of detail_sections.h. On a wide screen, sections that fit are beside
 * the stack; the others follow it in the same list. Main thread.
 */
#include "tui/view_detail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/detail_facts.h"
#include "tui/detail_sections.h"
#include "tui/detail_source.h"
#include "tui/draw.h"
#include "tui/histogram.h"
#include "tui/infoline.h"
#include "tui/site_twins.h"
#include "tui/trail.h"
#include "tui/view_sites.h"

#define WIDE_CELLS   96 /* from this width on, sections are beside the stack */
#define FACTS_HEIGHT 9 /* with fewer body lines, the facts scroll with the rest */
#define NUMBER_CELLS 7 /* "  12 > " before a frame's name */
#define STACK_HEAD   2 /* lines before the first frame */
#define SOURCE_ROWS                                                                                \
	12 /* with fewer lines below the facts, the source gets only the chosen one,               \
	    */
#define SOURCE_FEW  8 /* and none with fewer body lines: the stack needs them */
#define SOURCE_MOST 17

static struct list *detail_list(struct ui *ui)
{
	return &ui->detail.list;
}

static const struct snap_site *detail_site(const struct ui *ui)
{
	return ui_site(ui, ui->detail.site);
}

/* Mappings have no histograms of sizes, lifetimes and ages, and no threads. */
static bool has_histograms(const struct snap_site *site)
{
	return site->kind == SNAP_HEAP || site->kind == SNAP_POOL;
}

/* Is there room beside the stack, and something to be there? */
static bool detail_wide(const struct ui *ui)
{
	const struct snap_site *site = detail_site(ui);

	return ui->layout.width >= WIDE_CELLS && ui->layout.body_height >= FACTS_HEIGHT && site &&
	       has_histograms(site);
}

/* Fixed lines of facts above the list. */
static int detail_fixed(const struct ui *ui)
{
	return ui->layout.body_height >= FACTS_HEIGHT ? DETAIL_FACTS_LINES : 0;
}

/* Fixed lines of source below the list. */
static int detail_source_lines(const struct ui *ui)
{
	int rows = ui->layout.body_height - detail_fixed(ui), lines = rows / 3;

	if (rows < SOURCE_ROWS)
		return ui->layout.body_height < SOURCE_FEW ? 0 : 2;
	return lines < 5 ? 5 : lines > SOURCE_MOST ? SOURCE_MOST : lines;
}

static struct histogram detail_histogram(const struct ui *ui)
{
	return (struct histogram){ .sizes = ui->detail.histograms.sizes,
		.lifetimes = ui->detail.histograms.lifetimes,
		.known = ui->detail.has_histograms };
}

/* ---- stack -------------------------------------------------------------------------------- */

/* A heading, the allocation function, a line per frame, and one if outer frames are missing. */
static size_t stack_lines(const struct ui *ui, const struct snap_site *site)
{
	return STACK_HEAD + site->stack->nframes + site->stack->truncated;
}

static void stack_draw_rule(const struct stack *st, int y, unsigned cells)
{
	char title[64];

	snprintf(title, sizeof(title), "STACK, %" PRIu32 " frames%s", st->nframes,
		st->resolved ? "" : ", resolving names");
	draw_rule(y, 0, cells, title);
}

static void frame_draw_name(
	const struct ui *ui, const struct frame *f, enum draw_style style, int y, unsigned cells)
{
	static const char inlined[] = "  inlined";
	unsigned shift = ui->detail.shift, keep = f->inlined ? sizeof(inlined) - 1 : 0, used;
	char full[COLUMN_TEXT_MAX * 2], name[COLUMN_TEXT_MAX];

	if (cells <= keep + 8)
		keep = 0;
	frame_name(f, ui->names == NAMES_SHORT && shift ? NAMES_FULL : ui->names,
		shift || ui->names != NAMES_SHORT ? 0 : cells - keep, draw_is_ascii(), full,
		sizeof(full));
	text_elide(name, sizeof(name), full + text_fit(full, shift, NULL), cells - keep, false,
		draw_is_ascii());
	used = draw_text(y, NUMBER_CELLS, cells - keep, style, name);
	if (keep)
		draw_text(y, NUMBER_CELLS + (int)used, keep,
			style == STYLE_SELECT ? style : STYLE_DIM, inlined);
}

static enum draw_style frame_style(const struct ui *ui, const struct snap_site *site, uint32_t i)
{
	const struct frame *f = snapshot_frame(site->stack, i);

	if (i == detail_source_frame(ui, site))
		return STYLE_SELECT;
	if (ui->find && filter_match_frame(ui->find, f))
		return STYLE_INFO;
	return i == site->stack->title ? STYLE_BOLD : f->hidden ? STYLE_DIM : STYLE_PLAIN;
}

static void frame_draw(
	const struct ui *ui, const struct snap_site *site, uint32_t i, int y, unsigned cells)
{
	const struct frame *f = snapshot_frame(site->stack, i);
	bool names = i == site->stack->title;
	enum draw_style style = frame_style(ui, site, i), place_style;
	unsigned place = cells / 3 > 36 ? 36 : cells / 3, used;
	char text[COLUMN_TEXT_MAX];

	place_style = style == STYLE_SELECT || names ? style : STYLE_DIM;
	if (style == STYLE_SELECT)
		draw_fill(y, 0, cells, style);
	snprintf(text, sizeof(text), "%s%3" PRIu32 " %s", style == STYLE_SELECT ? ">" : " ", i,
		names ? draw_glyph(GLYPH_HERE) : " ");
	draw_text(y, 0, NUMBER_CELLS, style, text);
	frame_draw_name(ui, f, style, y, cells - NUMBER_CELLS - place - 2);
	frame_place(f, place, draw_is_ascii(), text, sizeof(text));
	used = (unsigned)text_cells(text);
	draw_text(y, (int)(cells - 1 - (used < place ? used : place)), place, place_style, text);
}

static void stack_draw_line(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	const struct stack *st = site->stack;

	if (i == 0)
		stack_draw_rule(st, y, cells);
	else if (i == 1)
		draw_text(y, NUMBER_CELLS, cells - NUMBER_CELLS, STYLE_DIM, site->alloc_function);
	else if (i - STACK_HEAD < st->nframes)
		frame_draw(ui, site, (uint32_t)(i - STACK_HEAD), y, cells);
	else
		draw_text(y, NUMBER_CELLS, cells - NUMBER_CELLS, STYLE_WARN,
			"outer frames are missing: depth limit, or the unwinder stopped");
}

/* ---- the other sections ------------------------------------------------------------------- */

static size_t facts_lines(const struct ui *ui, const struct snap_site *site)
{
	return detail_fixed(ui) ? 0 : DETAIL_FACTS_LINES;
}

static void facts_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	detail_facts_draw(ui, site, (unsigned)i, y, cells);
}

static size_t sizes_lines(const struct ui *ui, const struct snap_site *site)
{
	struct histogram h = detail_histogram(ui);

	return histogram_size_lines(&h);
}

static void sizes_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	struct histogram h = detail_histogram(ui);

	histogram_draw(&h, i, y, x, cells);
}

static size_t lives_lines(const struct ui *ui, const struct snap_site *site)
{
	struct histogram h = detail_histogram(ui);

	return histogram_lines(&h) - histogram_size_lines(&h);
}

static void lives_draw(
	const struct ui *ui, const struct snap_site *site, size_t i, int y, int x, unsigned cells)
{
	struct histogram h = detail_histogram(ui);

	histogram_draw(&h, histogram_size_lines(&h) + i, y, x, cells);
}

/* The sections before FIRST_ASIDE and the siblings, which Enter opens, are in the list. The others
 * are beside it if they fit. */
enum { SECTION_STACK = 1, FIRST_ASIDE, SECTION_SIBLINGS = 6, SECTIONS };

static const struct detail_section facts = { facts_lines, facts_draw, 0 };
static const struct detail_section stack = { stack_lines, stack_draw_line, STACK_HEAD };
static const struct detail_section sizes = { sizes_lines, sizes_draw, 1 };
static const struct detail_section lives = { lives_lines, lives_draw, 1 };
static const struct detail_section *const sections[SECTIONS] = { &facts, &stack, &sizes, &lives,
	&detail_sections_ages, &detail_sections_threads, &detail_sections_siblings };

/* The lines of each section in the list, and beside it. */
struct plan {
	size_t list[SECTIONS], aside[SECTIONS];
};

static bool has_section(unsigned i, const struct snap_site *site)
{
	return has_histograms(site) || i < FIRST_ASIDE || i == SECTION_SIBLINGS;
}

static void plan_make(struct plan *p, const struct ui *ui, const struct snap_site *site)
{
	size_t room = detail_wide(ui) ? ui->detail.list.height : 0;

	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < SECTIONS; i++) {
		size_t lines = has_section(i, site) ? sections[i]->lines(ui, site) : 0;

		if (i >= FIRST_ASIDE && i != SECTION_SIBLINGS && lines <= room) {
			p->aside[i] = lines;
			room -= lines;
		} else {
			p->list[i] = lines;
			room = i >= FIRST_ASIDE ? 0 : room;
		}
	}
}

static size_t plan_lines(const size_t *lines)
{
	size_t sum = 0;

	for (unsigned i = 0; i < SECTIONS; i++)
		sum += lines[i];
	return sum;
}

/* The section of line `*i`; *i becomes the line within it. SECTIONS: there is none. */
static unsigned plan_find(const size_t *lines, size_t *i)
{
	unsigned at = 0;

	while (at < SECTIONS && *i >= lines[at])
		*i -= lines[at++];
	return at;
}

/* ---- the view ----------------------------------------------------------------------------- */

static int detail_rows(const struct ui *ui)
{
	return ui->layout.body_height - detail_fixed(ui) - detail_source_lines(ui);
}

/* The line of a frame in the list. */
static size_t detail_frame_line(const struct ui *ui, uint32_t frame)
{
	return (detail_fixed(ui) ? 0 : DETAIL_FACTS_LINES) + STACK_HEAD + frame;
}

/* The cursor moved to another line. */
static void detail_moved(struct ui *ui)
{
	const struct snap_site *site = detail_site(ui);
	size_t first = detail_frame_line(ui, 0), at = ui->detail.list.cursor;

	ui->detail.on_frame = site && at >= first && at - first < site->stack->nframes;
	if (ui->detail.on_frame)
		detail_source_choose_frame(ui, site, (uint32_t)(at - first));
}

static void detail_read(struct ui *ui, const struct snap_site *site)
{
	struct detail_state *st = &ui->detail;

	if (ui->frozen && st->histograms.id == st->site)
		return;
	st->has_histograms =
		site && !ignored_is_row(site) && ui->source->detail && ui_moment(ui) == SNAP_NOW &&
		!ui->source->detail(ui->source->ctx, ui->shown, st->site, &st->histograms);
	if (!st->has_histograms)
		memset(&st->histograms, 0, sizeof(st->histograms));
	st->histograms.id = st->site;
}

static void detail_update(struct ui *ui)
{
	struct detail_state *st = &ui->detail;
	const struct snap_site *site = detail_site(ui);
	struct plan p;
	size_t row;

	detail_read(ui, site);
	detail_sections_find_siblings(ui, site);
	if (!site) {
		list_recount(&st->list, 0);
		return;
	}
	plan_make(&p, ui, site);
	list_recount(&st->list, plan_lines(p.list));
	row = detail_frame_line(ui, detail_source_frame(ui, site));
	if (st->on_frame && st->list.cursor != row)
		list_select(&st->list, row);
}

static void detail_open(struct ui *ui)
{
	ui->detail.list = (struct list){ .height = ui->detail.list.height };
	ui->detail.shift = 0;
	ui->detail.frame.chosen = false;
	ui->detail.on_frame = detail_fixed(ui) != 0;
	ui->detail.histograms.id = ~ui->detail.site;
}

void view_detail_show(struct ui *ui)
{
	if (!ui->sites.has_selected) {
		ui_message(ui, "no site is selected");
	} else if (ui_can_push(ui, VIEW_DETAIL)) {
		ui->detail.site = ui->sites.selected;
		ui_push(ui, VIEW_DETAIL);
	}
}

void view_detail_enter(struct ui *ui, int arg, int key)
{
	const struct snap_site *site = detail_site(ui);
	size_t line = ui->detail.list.cursor;
	struct plan p;

	if (!site)
		return;
	plan_make(&p, ui, site);
	if (plan_find(p.list, &line) != SECTION_SIBLINGS || line < 1 ||
		line - 1 >= ui->detail.siblings.kept) {
		ui_message(ui, "Enter opens a sibling; they are listed at the end (G)");
		return;
	}
	trail_leave(ui, ui->stack[0], ui->depth);
	ui->detail.site = ui->detail.siblings.site[line - 1];
	view_sites_select(ui, ui->detail.site);
	detail_open(ui);
	detail_update(ui);
}

static void detail_click(struct ui *ui, int y, int x)
{
	int line = y - ui->layout.y[ROW_BODY] - detail_fixed(ui);

	if (line < 0 || (size_t)line >= ui->detail.list.height)
		return;
	list_select(&ui->detail.list, ui->detail.list.top + (size_t)line);
	detail_moved(ui);
}

/* The end of the visible lines, without headings that have nothing visible below them. */
static size_t headings_cut(const struct ui *ui, const size_t *lines)
{
	const struct list *l = &ui->detail.list;
	size_t end = l->top + l->height, line = end - 1;
	unsigned at = end < l->count ? plan_find(lines, &line) : SECTIONS;

	if (at == SECTIONS || line >= sections[at]->heads || l->cursor >= end - 1 - line)
		return end;
	return end - 1 - line;
}

static void detail_draw_lines(const struct ui *ui, const struct snap_site *site,
	const size_t *lines, int y, unsigned cells)
{
	const struct list *l = &ui->detail.list;
	size_t cut = headings_cut(ui, lines), end = cut < l->count ? cut : l->count;

	for (size_t i = 0; i < l->height && l->top + i < end; i++) {
		size_t line = l->top + i;
		unsigned at = plan_find(lines, &line);

		if (at < SECTIONS)
			sections[at]->draw(ui, site, line, y + (int)i, 0, cells);
		if (l->top + i == l->cursor && at != SECTION_STACK)
			draw_text(y + (int)i, 0, 1, STYLE_SELECT, ">");
	}
}

static void detail_draw_aside(const struct ui *ui, const struct snap_site *site,
	const size_t *lines, int y, int x, unsigned cells)
{
	for (size_t i = 0; i < ui->detail.list.height; i++) {
		size_t line = i;
		unsigned at = plan_find(lines, &line);

		draw_text(y + (int)i, x - 1, 1, STYLE_DIM, draw_glyph(i ? GLYPH_VLINE : GLYPH_TEE));
		if (at < SECTIONS)
			sections[at]->draw(ui, site, line, y + (int)i, x, cells);
	}
}

/* "SITE 17  cache::Shard::insert(…)                    cache.cc:214" */
static void detail_draw_head(const struct ui *ui, const struct snap_site *site)
{
	struct row_style style = ui_style(ui);
	unsigned width = (unsigned)ui->layout.width, place, x;
	int y = ui->layout.y[ROW_HEAD];
	char text[COLUMN_TEXT_MAX], id[32];

	draw_fill(y, 0, width, STYLE_HEAD);
	if (style.names == NAMES_SHORT)
		style.names = NAMES_FULL;
	style.line_cells = width / 3;
	site_place(site, &style, text, sizeof(text));
	place = (unsigned)text_cells(text);
	draw_text(y, (int)(width - place - 1), place, STYLE_HEAD, text);
	snprintf(id, sizeof(id), "SITE %" PRIu32, site->id);
	x = 3 + draw_text(y, 1, width - place - 3, STYLE_HEAD, id);
	style.site_cells = width > place + x + 3 ? width - place - x - 3 : 1;
	site_name(site, &style, text, sizeof(text));
	draw_text(y, (int)x, style.site_cells, STYLE_HEAD, text);
}

static void detail_draw(struct ui *ui)
{
	const struct snap_site *site = detail_site(ui);
	unsigned width = (unsigned)ui->layout.width, left;
	int y = ui->layout.y[ROW_BODY];
	struct plan p;

	if (!site) {
		draw_text(y, 2, width - 2, STYLE_DIM,
			ui_moment(ui) == SNAP_NOW ? "this site no longer exists; Esc goes back"
			: ui_moment(ui) == SNAP_PEAK
				? "this site had no live blocks at the peak; P goes back"
				: "this site had not allocated yet; F returns to the newest "
				  "moment");
		return;
	}
	site_twins_find(ui, ui->detail.siblings.site, ui->detail.siblings.kept);
	detail_draw_head(ui, site);
	for (int i = 0; i < detail_fixed(ui); i++)
		detail_facts_draw(ui, site, (unsigned)i, y + i, width);
	y += detail_fixed(ui);
	plan_make(&p, ui, site);
	left = detail_wide(ui) ? width * 3 / 5 : width;
	detail_draw_lines(ui, site, p.list, y, left);
	if (detail_wide(ui))
		detail_draw_aside(ui, site, p.aside, y, (int)left + 1, width - left - 1);
	if (detail_source_lines(ui))
		detail_source_draw(
			ui, site, y + detail_rows(ui), width, (unsigned)detail_source_lines(ui));
}

static bool detail_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	const struct snap_site *site = detail_site(ui);
	size_t first = detail_frame_line(ui, 0);

	return site && row >= first && row - first < site->stack->nframes &&
	       filter_match_frame(f, snapshot_frame(site->stack, row - first));
}

static void detail_status(struct ui *ui, char *text, size_t cap)
{
	const struct snap_site *site = detail_site(ui);
	const char *more = list_at_end(&ui->detail.list) ? "" : "   more below: PgDn";
	uint32_t frame = site ? detail_source_frame(ui, site) : 0;

	if (!site)
		text[0] = 0;
	else if (frame == site->stack->title)
		snprintf(text, cap, "%s names the site: the first frame that no rule hides (?)%s",
			draw_glyph(GLYPH_HERE), more);
	else
		snprintf(text, cap, "frame %" PRIu32 " of %" PRIu32 "%s", frame,
			site->stack->nframes, more);
}

const struct view view_detail = {
	.title = "Site detail",
	.scope = IN_DETAIL,
	.flags = LAYOUT_COMPACT,
	.open = detail_open,
	.update = detail_update,
	.moved = detail_moved,
	.click = detail_click,
	.rows = detail_rows,
	.draw = detail_draw,
	.status = detail_status,
	.list = detail_list,
	.matches = detail_matches,
};
