/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results of a leak scan: a row for the blocks of each call site and class, and one for each
 * other growing site; below them, all about the selected row. The rows stay until the next scan.
 * Main thread.
 */
#include "tui/view_leaks.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/key_codes.h"
#include "tui/leak_cells.h"
#include "tui/leak_explanation.h"
#include "tui/leak_facts.h"
#include "tui/leak_list.h"
#include "tui/trail.h"
#include "tui/refresh.h"

#define PANE_FROM   12 /* with fewer body lines there is no pane below the table */
#define PANE_LEAST  5
#define STATUS_WIDE 120 /* from this width on, there is room for blocks beside bytes */
#define NOTE_MOST   3 /* lines above the rows, */
#define NOTE_BODY   4 /* one for each this many body lines */

static const struct table_column leak_columns[] = {
	{ "KIND", 10, false, 0, "definite, indirect, possible, suspect or growing (see Terms)" },
	{ "BYTES", 7, true, 0, "bytes in blocks of this call site and kind" },
	{ "BLOCKS", 7, true, 48, "number of these blocks" },
	{ "INDIRECT", 9, true, 96, "bytes reachable only through them, and lost as well" },
	{ "OLDEST", 7, true, 56, "age of the oldest block" },
	{ "CHANGE", 8, true, 66, "growth since the previous scan (if only growing: the last)" },
	{ "SURE", 6, false, 76, "high: found twice; medium: found once; low: may be coincidence" },
	{ "GROWS", 6, false, 76, "how sure it is that the call site keeps growing" },
	{ "CALL SITE", 0, false, 0, "the function that allocated them" },
	{ "KEEPS", 7, true, 104, "what freeing them would give back, themselves included" },
	{ "TYPE", 22, false, 134, "C++ class of most of the site's blocks, by their vtables" },
};
static const unsigned char leak_order[] = { BY_KIND, BY_BYTES, BY_BLOCKS, BY_INDIRECT, BY_KEEPS,
	BY_OLDEST, BY_SINCE, BY_CONFIDENCE, BY_GROWTH, BY_TYPE, BY_SITE };
static_assert(sizeof(leak_order) == sizeof(leak_columns) / sizeof(leak_columns[0]), "all columns");
static_assert(sizeof(leak_order) <= TABLE_COLUMNS, "columns");
static unsigned leak_off; /* columns that the scan has nothing for */
static const struct table leak_table = { .column = leak_columns,
	.shown = leak_order,
	.count = sizeof(leak_columns) / sizeof(leak_columns[0]),
	.off = &leak_off };

static struct list *leaks_list(struct ui *ui)
{
	return &ui->leaks.list;
}

static const struct table *leaks_table(const struct ui *ui)
{
	const struct snap_leaks *l = ui->leaks.last;

	leak_off = (l && l->held.blocks ? 0 : 1u << BY_KEEPS) |
		   (l && l->typed.blocks ? 0 : 1u << BY_TYPE);
	return &leak_table;
}

static struct table_order *leaks_order(struct ui *ui)
{
	return &ui->leaks.order;
}

static const struct tui_missing *leaks_missing(const struct ui *ui)
{
	return ui->source->leaks ? NULL : &ui->source->no_leaks;
}

/* ---- keys ---- */

bool view_leaks_can_scan(const struct ui *ui)
{
	return ui->source->leaks && ui->source->leaks_scan && ui_program_runs(ui) &&
	       ui_moment(ui) == SNAP_NOW;
}

/* To the tab; Esc returns. */
static void leaks_go(struct ui *ui)
{
	if (ui_view(ui) != view_table[VIEW_LEAKS])
		trail_leave(ui, VIEW_LEAKS, 1);
	ui_tab(ui, VIEW_LEAKS);
}

void view_leaks_scan(struct ui *ui, int arg, int key)
{
	char text[UI_MESSAGE_MAX] = "";

	if (!ui->source->leaks) {
		leaks_go(ui); /* which says why */
		return;
	}
	if (!ui->source->leaks_scan) {
		ui_message(ui, "a scan needs the running program; these are the scans recorded");
		leaks_go(ui);
		return;
	}
	if (ui_is_replaced(ui)) {
		ui_message(ui, "the rows are frozen before an exec: Space in Sites, then L");
		return;
	}
	if (ui_moment(ui) != SNAP_NOW) {
		ui_message(ui, "a scan reads the program as it is now: F first, then L");
		return;
	}
	if (ui_view(ui) != view_table[VIEW_HOLDERS])
		leaks_go(ui);
	if (ui->source->leaks_scan(ui->source->ctx, false, text, sizeof(text)) != 0)
		ui_message(ui, "%s", text);
}

bool view_leaks_can_release(const struct ui *ui)
{
	return ui->source->leaks_release && leak_list_state(ui)->held;
}

void view_leaks_release(struct ui *ui, int arg, int key)
{
	if (ui->source->leaks_release && ui->source->leaks_release(ui->source->ctx))
		ui_message(ui, "released: the program ends now");
	else
		ui_message(ui, "the program is not held (start heaptop with --hold)");
}

#define READ_NS 3000000000ull /* time to read another message */
static void exit_scan_message(struct ui *ui, const struct leaks *l)
{
	const struct snap_leak_sum *lost = &l->last->sum[SNAP_LEAK_DEFINITE];
	uint64_t possible = l->last->sum[SNAP_LEAK_POSSIBLE].blocks;
	const char *next = l->held ? "; E in Leaks (F9) lets it end" : "; F9 shows them";
	char bytes[UNITS_MAX + 8], blocks[UNITS_MAX + 8];

	if (lost->blocks)
		ui_message(ui, "exit scan: definite %s bytes in %s block%s%s",
			units_exact(bytes, lost->bytes), units_exact(blocks, lost->blocks),
			units_plural(lost->blocks), next);
	else if (possible)
		ui_message(ui, "exit scan: %s block%s possibly lost%s",
			units_exact(blocks, possible), units_plural(possible), next);
	else
		ui_message(ui, "exit scan: no leaks%s", l->held ? next : "");
}

static void leaks_refreshed(struct ui *ui)
{
	const struct leaks *l = ui->source->leaks ? leak_list_state(ui) : NULL;

	if (!l || !l->last || !l->last->at_exit || ui->leaks.end_version == l->version ||
		(ui->message[0] && ui_now_ns(ui) - ui->message_ns < READ_NS))
		return;
	/* A suppression makes a new version of the same result. */
	if (ui->leaks.end_ns != l->last->at_ns)
		exit_scan_message(ui, l);
	ui->leaks.end_version = l->version;
	ui->leaks.end_ns = l->last->at_ns;
}

/* The row of a site; the number of rows if it has none. */
static size_t row_of(const struct leaks_state *st, uint32_t site)
{
	size_t i = 0;

	while (i < st->list.count && !(st->row[i].site && st->row[i].site->id == site))
		i++;
	return i;
}

/* Stays in the detail of a site that has no row: the row under the cursor would be another's. */
void view_leaks_tab(struct ui *ui, int arg, int key)
{
	uint32_t site = ui_view(ui) == view_table[VIEW_DETAIL] ? ui->detail.site : 0;
	size_t row;

	leak_list_update(ui);
	row = site ? row_of(&ui->leaks, site) : 0;
	if (site && row == ui->leaks.list.count && (ui->leaks.last || row > 0)) {
		ui_message(ui, "no leak of this site among the kinds shown (%s)",
			leak_list_choice(ui));
		return;
	}
	leaks_go(ui);
	if (!site || row >= ui->leaks.list.count)
		return;
	list_select(&ui->leaks.list, row);
	leak_list_select_cursor(ui);
}

bool view_leaks_cancel(struct ui *ui)
{
	bool here = ui_view(ui)->scope & (IN_LEAKS | IN_WHY | IN_HOLDERS | IN_CONTENTS);

	if (!here || !leak_facts_is_scanning(leak_list_state(ui)))
		return false;
	ui->source->leaks_cancel(ui->source->ctx);
	ui_message(ui, "scan cancelled; the previous results stay");
	return true;
}

static void every_accept(struct ui *ui, const char *text)
{
	char said[UNITS_MAX];
	uint64_t ns = 0;

	if (!*text)
		return;
	if (strcmp(text, "0") != 0 &&
		(units_parse_duration(text, &ns) || ns < LEAKS_EVERY_MIN_NS)) {
		ui_message(
			ui, "\"%s\" is neither 0 nor a time of " LEAKS_EVERY_MIN " or more", text);
		return;
	}
	ui->source->leaks_every(ui->source->ctx, ns);
	if (ns)
		ui_message(ui, "scanning every %s; each scan pauses the program",
			units_duration(said, ns));
	else
		ui_message(ui, "automatic scans are off");
}

void view_leaks_every(struct ui *ui, int arg, int key)
{
	if (ui->source->leaks_every)
		prompt_open(&ui->prompt, "scan every (30s; 0: only with L):", "", every_accept);
	else
		ui_message(ui, "automatic scans need a running program");
}

void view_leaks_kind(struct ui *ui, int arg, int key)
{
	char text[UI_MESSAGE_MAX];

	leak_list_choices(ui, text, sizeof(text));
	ui_message(ui, "%s", text);
	ui->pending = 'K';
}

bool view_leaks_choose(struct ui *ui, int key)
{
	if (!leak_list_choose(ui, key))
		return key == KEY_ESC;
	refresh_views(ui);
	ui_message(ui, "shown: %s", leak_list_choice(ui));
	return true;
}

void view_leaks_contents(struct ui *ui, int arg, int key)
{
	ui->leaks.contents = !ui->leaks.contents;
	refresh_views(ui);
	ui_message(ui, ui->leaks.contents ? "the contents of blocks are shown: they may be secret"
					  : "the contents of blocks are hidden");
}

void view_leaks_suppress(struct ui *ui, int arg, int key)
{
	const struct leaks_row *row = leak_list_selected(ui);
	char text[UI_MESSAGE_MAX] = "";

	if (!ui->source->leaks_suppress) {
		ui_message(ui, "not suppressed: these are the results of a recording");
		return;
	}
	if (ui_is_replaced(ui)) {
		ui_message(ui, "not suppressed: the rows are frozen before an exec");
		return;
	}
	if (!row || !row->site || !leak_list_is_found(row) || row->leak->suppressed) {
		ui_message(ui, !row			  ? "nothing to suppress"
			       : !row->site		  ? "this call site is not known yet"
			       : !leak_list_is_found(row) ? "not suppressed: this is not a leak"
							  : "this is already suppressed");
		return;
	}
	ui->source->leaks_suppress(ui->source->ctx, ui->shown,
		&(struct leak_chosen){ row->site, row->leak->class }, text, sizeof(text));
	refresh_now(ui);
	ui_message(ui, "%s", text);
}

void view_leaks_why(struct ui *ui, int arg, int key)
{
	if (leak_list_selected(ui))
		ui_push(ui, VIEW_WHY);
	else
		ui_message(ui, "no row is selected: L scans, K chooses the kinds shown");
}

bool view_leaks_has_contents(const struct ui *ui)
{
	return ui->leaks.contents;
}

/* ---- drawing ---- */

static bool is_suppressed(const struct leaks_row *row)
{
	return row->leak && row->leak->suppressed;
}

static enum draw_style row_style_of(const struct leaks_row *row)
{
	if (is_suppressed(row) || row->kind == KIND_REACHABLE)
		return STYLE_DIM;
	return row->kind == KIND_DEFINITE ? STYLE_BAD : STYLE_PLAIN;
}

/* Is its call site one of the snapshot's, and not of an older one? */
static bool is_shown_site(const struct ui *ui, const struct snap_site *site)
{
	return site && ui->shown && site >= ui->shown->sites &&
	       site < ui->shown->sites + ui->shown->nsites;
}

/* Rows on the screen whose names and places are the same. */
static void leaks_find_twins(struct ui *ui)
{
	const struct list *l = &ui->leaks.list;
	uint32_t order[TWINS_ROWS];
	size_t n = 0;

	for (size_t i = l->top; i < l->top + l->height && i < l->count && n < TWINS_ROWS; i++)
		if (is_shown_site(ui, ui->leaks.row[i].site))
			order[n++] = (uint32_t)(ui->leaks.row[i].site - ui->shown->sites);
	ui->leaks.twins.count = 0;
	if (n)
		twins_find(&ui->leaks.twins, ui->shown, order, 0, n, ui->show_hidden);
}

/* `nth`: of the rows on the screen with a call site. */
static void leaks_draw_row(const struct ui *ui, size_t i, size_t nth, int y)
{
	const struct leaks_row *row = &ui->leaks.row[i];
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(leaks_table(ui), &ui->leaks.order, ui->layout.width, place);
	bool selected = i == ui->leaks.list.cursor;
	char text[COLUMN_TEXT_MAX], differs[TWINS_TEXT];
	const char *twin = is_shown_site(ui, row->site)
				   ? twins_text(&ui->leaks.twins, nth, draw_glyph_set(), differs)
				   : NULL;

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned k = 0; k < n; k++) {
		leak_cells_text(ui, row, twin, &place[k], text);
		table_draw_cell(&leak_table, place[k], y,
			selected		     ? STYLE_SELECT
			: place[k].column == BY_KIND ? row_style_of(row)
						     : STYLE_PLAIN,
			text);
	}
}

/* ---- what stands above the rows ---- */

/* A note above the rows: what they do not show. NULL: nothing. */
static const char *note_text(const struct ui *ui, enum draw_style *style)
{
	const struct leaks *l = leak_list_state(ui);
	uint64_t lost = 0;

	*style = l->failed ? STYLE_WARN : STYLE_DIM;
	if (l->failed)
		return l->failed;
	if (leak_facts_is_scanning(l) && !l->last)
		return "scanning; Esc cancels";
	if (l->phase == LEAKS_ENDING && !l->last)
		return "the scan is being cancelled";
	if (!l->last && !ui_program_runs(ui))
		return "the program ended without a leak scan";
	if (!l->last)
		return "L scans for leaks: blocks that nothing points to any more. The program is "
		       "paused briefly, usually for milliseconds; the scan then shows for how "
		       "long.";
	for (unsigned i = 0; i < SNAP_LEAK_REACHABLE; i++)
		lost += l->last->sum[i].blocks;
	if (lost)
		return NULL;
	return l->last->suppressed.blocks ? "no leaks except suppressed ones"
					  : "no leaks: every block is reachable";
}

/* Draws the note, unless `y` is negative. Returns its number of lines. */
static int leaks_note(const struct ui *ui, int y)
{
	int body = ui->layout.body_height, lines = 0;
	unsigned cells = (unsigned)ui->layout.width - 2;
	char line[UI_MESSAGE_MAX], cut[UI_MESSAGE_MAX];
	enum draw_style style;
	const char *text = note_text(ui, &style);

	while (text && *text && lines < NOTE_MOST && body >= (lines + 1) * NOTE_BODY) {
		size_t n = text_line(text, cells);
		bool is_last = lines + 1 == NOTE_MOST || body < (lines + 2) * NOTE_BODY;

		snprintf(line, sizeof(line), "%.*s", is_last ? -1 : (int)n, text);
		text_elide(cut, sizeof(cut), line, cells, false, draw_is_ascii());
		if (y >= 0)
			draw_text(y + lines, 2, cells, style, cut);
		text += n + (text[n] == ' ');
		lines++;
	}
	return lines;
}

static int leaks_pane(const struct ui *ui)
{
	int body = ui->layout.body_height - leaks_note(ui, -1), rows = (int)ui->leaks.list.count;
	int pane = body / 2 - 1;

	if (body < PANE_FROM || rows == 0)
		return 0;
	if (body - rows - 1 > pane)
		pane = body - rows - 1;
	return pane < PANE_LEAST ? PANE_LEAST : pane;
}

static int leaks_rows(const struct ui *ui)
{
	return ui->layout.body_height - leaks_note(ui, -1) - leaks_pane(ui);
}

static void leaks_draw_pane(struct ui *ui, int y, int height)
{
	const struct leaks_row *row = leak_list_selected(ui);
	unsigned width = (unsigned)ui->layout.width;
	char title[COLUMN_TEXT_MAX], cut[LEAK_EXPLANATION_TEXT];
	struct row_style style = ui_style(ui);

	if (!ui->leaks.explanation)
		ui->leaks.explanation = malloc(sizeof(*ui->leaks.explanation));
	if (!row || !ui->leaks.explanation || height < 2)
		return;
	strcpy(title, "WHY ");
	if (row->site)
		site_name(row->site, &style, title + 4, sizeof(title) - 4);
	text_elide(cut, sizeof(cut), title, width > 8 ? width - 8 : width, false, draw_is_ascii());
	draw_rule(y, 0, width, cut);
	leak_explanation_make(ui->leaks.explanation, width - 2, ui, ui->leaks.last, row);
	for (int i = 1; i < height && (size_t)i <= ui->leaks.explanation->count; i++) {
		bool more = i == height - 1 && (size_t)i < ui->leaks.explanation->count;

		text_elide(cut, sizeof(cut),
			more ? "... Enter shows the rest" : ui->leaks.explanation->line[i - 1].text,
			width - 2, false, draw_is_ascii());
		draw_text(y + i, 1, width - 2,
			more ? STYLE_DIM : ui->leaks.explanation->line[i - 1].style, cut);
	}
}

static void leaks_draw(struct ui *ui)
{
	const struct list *l = &ui->leaks.list;
	int y = ui->layout.y[ROW_BODY], end = y + ui->layout.body_height, pane;
	size_t nth = 0;

	leak_list_catch_up(ui);
	pane = leaks_pane(ui);
	table_draw_head(leaks_table(ui), &ui->leaks.order, ui->layout.y[ROW_HEAD],
		(unsigned)ui->layout.width);
	y += leaks_note(ui, y);
	if (!l->count && ui->leaks.choice != 0 && y < end)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			"none of the kinds shown; K shows others");
	leaks_find_twins(ui);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++) {
		leaks_draw_row(ui, l->top + i, nth, y + (int)i);
		nth += is_shown_site(ui, ui->leaks.row[l->top + i].site);
	}
	if (pane)
		leaks_draw_pane(ui, end - pane, pane);
}

/* ---- lines around ---- */

static size_t sum_text(
	char *out, size_t cap, bool wide, const char *name, const struct snap_leak_sum *sum)
{
	char bytes[UNITS_MAX], blocks[UNITS_MAX];
	int n;

	if (wide && sum->blocks)
		n = snprintf(out, cap, "%s %s in %s   ", name, units_bytes(bytes, sum->bytes),
			units_count(blocks, sum->blocks));
	else
		n = snprintf(out, cap, "%s %s  ", name, units_bytes(bytes, sum->bytes));
	return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1;
}

static size_t growing_text(char *out, size_t cap, bool wide, const struct leaks_state *st)
{
	char rate[UNITS_MAX];
	int n;

	if (wide && st->growing)
		n = snprintf(out, cap, "growing %s at %zu site%s   ",
			units_rate(rate, st->growing_bytes_per_s), st->growing,
			units_plural(st->growing));
	else
		n = snprintf(out, cap, "growing %zu  ", st->growing);
	return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1;
}

/* The kinds shown, and the sum of each kind. */
static void leaks_status(struct ui *ui, char *text, size_t cap)
{
	const struct snap_leaks *l = ui->leaks.last;
	bool wide = ui->layout.width >= STATUS_WIDE;
	size_t used;

	used = (size_t)snprintf(
		text, cap, "%s%s (K)   ", wide ? "shown: " : "", leak_list_choice(ui));
	if (ui->leaks.suspects)
		used += (size_t)snprintf(text + used, cap - used,
			"no scan was possible   suspects by age %zu   ", ui->leaks.suspects);
	else if (!l)
		used += (size_t)snprintf(text + used, cap - used, "not scanned yet (L)   ");
	for (unsigned i = 0; l && i < SNAP_LEAK_REACHABLE; i++)
		if (wide || l->sum[i].blocks || i == SNAP_LEAK_DEFINITE)
			used += sum_text(text + used, cap - used, wide,
				snapshot_leak_word((enum snap_leak_class)i), &l->sum[i]);
	if (wide || ui->leaks.growing)
		used += growing_text(text + used, cap - used, wide, &ui->leaks);
	if (l && l->suppressed.blocks)
		used += sum_text(text + used, cap - used, wide, "suppressed", &l->suppressed);
	if (l)
		used += sum_text(
			text + used, cap - used, wide, "reachable", &l->sum[SNAP_LEAK_REACHABLE]);
	if (l && l->moved.blocks && wide)
		used += sum_text(text + used, cap - used, wide, "by heaptop's rules", &l->moved);
	while (used > 0 && text[used - 1] == ' ')
		text[--used] = '\0';
}

static bool leaks_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	const struct snap_site *site = ui->leaks.row[row].site;

	return site && filter_match(f, ui->shown, site, ui->show_hidden);
}

static void leaks_click(struct ui *ui, int y, int x)
{
	struct list *l = &ui->leaks.list;
	size_t line = (size_t)(y - ui->layout.y[ROW_BODY] - leaks_note(ui, -1));
	size_t row = l->top + line;
	bool again = row == l->cursor;

	if (line >= l->height || row >= l->count)
		return;
	list_select(l, row);
	leak_list_select_cursor(ui);
	if (again)
		view_leaks_why(ui, 0, 0);
}

const struct view view_leaks = {
	.title = "Leaks",
	.scope = IN_LEAKS,
	.flags = LAYOUT_COMPACT,
	.missing = leaks_missing,
	.open = leak_list_update,
	.update = leak_list_update,
	.moved = leak_list_select_cursor,
	.rows = leaks_rows,
	.draw = leaks_draw,
	.status = leaks_status,
	.list = leaks_list,
	.click = leaks_click,
	.matches = leaks_matches,
	.table = leaks_table,
	.order = leaks_order,
	.facts = leak_facts_add,
	.wants_ages = leak_list_wants_ages,
	.refreshed = leaks_refreshed,
	.reset = leak_list_reset,
};
