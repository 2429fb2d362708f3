/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The allocations at one call site as they happen: when, by which thread, how large, where, and how
 * soon each block was freed. The source reads them; only visible lines are formatted. The list
 * follows the end until it is scrolled back; then it shows a copy of the lines of that moment, for
 * a busy site's are soon replaced. Main thread.
 */
#include "tui/view_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/infoline.h"

#define TEXT_MAX      128
#define SECOND	      1000000000ull
#define FRACTION      100000ull /* of a second, shown with four digits */
#define ROUGH_NS      1000000ull /* lifetimes below are only about right */
#define GAP	      2
#define TIME_CELLS    12
#define SIZE_CELLS    9
#define ADDRESS_CELLS 14
#define FREED_CELLS   11
#define THREAD_LEAST  10
#define THREAD_MOST   32
#define NAME_LEAST    24 /* of the site's name */

enum events_column {
	EVENTS_TIME,
	EVENTS_THREAD,
	EVENTS_SIZE,
	EVENTS_ADDRESS,
	EVENTS_FREED,
	COLUMNS
};

static const struct events_title {
	const char *title;
	unsigned cells; /* 0: takes the rest */
	bool right;
	int width; /* least width of the screen for it */
} columns[COLUMNS] = {
	[EVENTS_TIME] = { "TIME", TIME_CELLS, true, 0 },
	[EVENTS_THREAD] = { "THREAD", 0, false, 68 },
	[EVENTS_SIZE] = { "SIZE", SIZE_CELLS, true, 0 },
	[EVENTS_ADDRESS] = { "ADDRESS", ADDRESS_CELLS, false, 56 },
	[EVENTS_FREED] = { "FREED AFTER", 0, false, 0 },
};

/* The newest; NULL: nothing is followed. */
static const struct event_lines *events_newest(const struct ui *ui)
{
	return ui->source->events ? ui->source->events(ui->source->ctx) : NULL;
}

/* Those on the screen. */
static const struct event_lines *events_of(const struct ui *ui)
{
	return ui->events.copy ? &ui->events.held : events_newest(ui);
}

static struct list *events_list(struct ui *ui)
{
	return &ui->events.list;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* "12:41.0123" */
static void time_text(uint64_t ns, char out[TEXT_MAX])
{
	char clock[UNITS_MAX];

	snprintf(out, TEXT_MAX, "%s.%04u", units_uptime(clock, ns),
		(unsigned)(ns % SECOND / FRACTION));
}

/* "4212 parser"; an ended thread's slot may have passed to another one. */
static void thread_text(const struct ui *ui, uint32_t slot, uint32_t tid, char out[TEXT_MAX])
{
	const struct snapshot *s = ui->current;

	for (size_t i = 0; s && i < s->nthreads; i++)
		if (s->threads[i].slot == slot && s->threads[i].tid && s->threads[i].tid == tid &&
			s->threads[i].name[0]) {
			snprintf(out, TEXT_MAX, "%" PRIu32 " %s", tid, s->threads[i].name);
			return;
		}
	if (tid)
		snprintf(out, TEXT_MAX, "%" PRIu32, tid);
	else
		snprintf(out, TEXT_MAX, slot ? "ended" : "shared slot");
}

/* The name of a thread by its slot alone: of who frees now. */
static void freer_text(const struct ui *ui, uint32_t slot, char out[TEXT_MAX])
{
	const struct snapshot *s = ui->current;
	uint32_t tid = 0;

	for (size_t i = 0; s && i < s->nthreads; i++)
		if (s->threads[i].slot == slot)
			tid = s->threads[i].tid;
	thread_text(ui, slot, tid, out);
}

/* Its address was allocated again, so it was freed, but that was missed. */
static bool is_replaced(const struct event_lines *e, size_t i)
{
	for (size_t later = i + 1; later < e->count; later++)
		if (e->line[later].addr == e->line[i].addr)
			return true;
	return false;
}

/* "4m12s", "~131us": times of a quiet thread are exact to some milliseconds. */
static void after_text(uint64_t ns, char out[UNITS_MAX])
{
	char text[UNITS_MAX];

	if (ns < ROUGH_NS)
		snprintf(out, UNITS_MAX, "~%uus", (unsigned)(ns / 1000));
	else
		snprintf(out, UNITS_MAX, "%s", units_duration(text, ns));
}

static void freed_text(
	const struct ui *ui, const struct event_lines *e, size_t i, char out[TEXT_MAX])
{
	const struct event_line *l = &e->line[i];
	char after[UNITS_MAX], thread[TEXT_MAX];

	if (!l->freed) {
		snprintf(out, TEXT_MAX, is_replaced(e, i) ? "freed, not seen" : "live");
		return;
	}
	after_text(l->freed_after_ns, after);
	if (l->freed_by == l->slot) {
		snprintf(out, TEXT_MAX, "%s", after);
		return;
	}
	freer_text(ui, l->freed_by, thread);
	snprintf(out, TEXT_MAX, "%s by %.64s", after, thread);
}

static void cell_text(const struct ui *ui, const struct event_lines *e, size_t i,
	enum events_column column, char out[TEXT_MAX])
{
	const struct event_line *l = &e->line[i];

	*out = 0;
	switch (column) {
	case EVENTS_TIME:
		time_text(l->ns, out);
		break;
	case EVENTS_THREAD:
		thread_text(ui, l->slot, l->tid, out);
		break;
	case EVENTS_SIZE:
		if (l->size < 1000000)
			units_exact(out, l->size);
		else
			units_bytes(out, l->size);
		break;
	case EVENTS_ADDRESS:
		snprintf(out, TEXT_MAX, "0x%" PRIx64, l->addr);
		break;
	case EVENTS_FREED:
	case COLUMNS:
		freed_text(ui, e, i, out);
		break;
	}
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* Cells of a column; those without a width share what is left, the first one gets less. */
static unsigned column_cells(const struct ui *ui, enum events_column column)
{
	unsigned used = 1 + FREED_CELLS, rest;

	if (ui->layout.width < columns[column].width)
		return 0;
	if (columns[column].cells)
		return columns[column].cells;
	for (int i = 0; i < COLUMNS; i++)
		if (ui->layout.width >= columns[i].width)
			used += columns[i].cells + GAP;
	rest = (unsigned)ui->layout.width > used ? (unsigned)ui->layout.width - used : 0;
	if (column == EVENTS_THREAD)
		return rest / 2 < THREAD_LEAST	? THREAD_LEAST
		       : rest / 2 > THREAD_MOST ? THREAD_MOST
						: rest / 2;
	return FREED_CELLS + rest -
	       (ui->layout.width >= columns[EVENTS_THREAD].width ? column_cells(ui, EVENTS_THREAD)
								 : 0);
}

/* Line `i`; SIZE_MAX: the titles. */
static void line_draw(
	const struct ui *ui, const struct event_lines *e, size_t i, int y, enum draw_style style)
{
	char text[TEXT_MAX], cut[TEXT_MAX];
	int x = 1;

	for (int c = 0; c < COLUMNS; c++) {
		unsigned cells = column_cells(ui, (enum events_column)c), used;

		if (!cells)
			continue;
		if (i == SIZE_MAX)
			snprintf(text, sizeof(text), "%s", columns[c].title);
		else
			cell_text(ui, e, i, (enum events_column)c, text);
		text_elide(cut, sizeof(cut), text, cells, false, draw_is_ascii());
		used = (unsigned)text_cells(cut);
		draw_text(y, x + (columns[c].right && used < cells ? (int)(cells - used) : 0),
			cells, style, cut);
		x += (int)cells + GAP;
	}
}

static bool line_is_found(const struct ui *ui, const struct event_lines *e, size_t i)
{
	char text[TEXT_MAX];

	for (int c = 0; ui->find && c < COLUMNS; c++) {
		cell_text(ui, e, i, (enum events_column)c, text);
		if (find_is_match(ui, text))
			return true;
	}
	return false;
}

static void nothing_draw(const struct ui *ui, const struct event_lines *e)
{
	const char *text = "waiting for the next allocation at this site";

	if (!e)
		text = "the events of this site are no longer followed; Esc goes back";
	else if (e->why)
		text = e->why;
	else if (!ui_program_runs(ui))
		text = "the program has ended: no more events will come";
	draw_text(ui->layout.y[ROW_BODY], 2, (unsigned)ui->layout.width - 2, STYLE_DIM, text);
}

static void held_drop(struct ui *ui)
{
	free(ui->events.copy);
	ui->events.copy = NULL;
}

/* Shows the lines of this moment from now on. */
static void events_hold(struct ui *ui)
{
	const struct event_lines *e = events_newest(ui);

	if (!e || !e->count || ui->events.copy)
		return;
	ui->events.copy = malloc(e->count * sizeof(*e->line));
	if (!ui->events.copy)
		return;
	memcpy(ui->events.copy, e->line, e->count * sizeof(*e->line));
	ui->events.held = *e;
	ui->events.held.line = ui->events.copy;
}

static void events_update(struct ui *ui)
{
	struct events_state *st = &ui->events;
	const struct event_lines *e = events_of(ui);

	st->list.scroll_only = true;
	list_recount(&st->list, e ? e->count : 0);
	if (!st->copy)
		list_go(&st->list, LIST_END);
}

static void events_moved(struct ui *ui)
{
	if (!list_at_end(&ui->events.list))
		events_hold(ui);
	else if (ui->events.copy)
		held_drop(ui);
}

void view_events_hold(struct ui *ui, int arg, int key)
{
	if (ui->events.copy)
		held_drop(ui);
	else
		events_hold(ui);
	events_update(ui);
}

bool view_events_is_held(const struct ui *ui)
{
	return ui->events.copy != NULL;
}

static void events_draw(struct ui *ui)
{
	const struct event_lines *e = events_of(ui);
	const struct list *l = &ui->events.list;
	int y = ui->layout.y[ROW_BODY];

	events_update(ui);
	if (ui->layout.y[ROW_HEAD] >= 0) {
		draw_fill(ui->layout.y[ROW_HEAD], 0, (unsigned)ui->layout.width, STYLE_HEAD);
		line_draw(ui, e, SIZE_MAX, ui->layout.y[ROW_HEAD], STYLE_HEAD);
	}
	if (!l->count)
		nothing_draw(ui, e);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		line_draw(ui, e, l->top + i, y + (int)i,
			line_is_found(ui, e, l->top + i) ? STYLE_SELECT
			: e->line[l->top + i].freed	 ? STYLE_PLAIN
							 : STYLE_BOLD);
}

/* ---- the view ----------------------------------------------------------------------------- */

static void events_open(struct ui *ui)
{
	held_drop(ui);
	ui->events = (struct events_state){ .list.height = ui->events.list.height };
}

static void events_close(struct ui *ui)
{
	held_drop(ui);
	if (ui->source->events_stop)
		ui->source->events_stop(ui->source->ctx);
}

bool view_events_can(const struct ui *ui)
{
	return ui->source->events_follow && ui_program_runs(ui) && ui_moment(ui) == SNAP_NOW;
}

void view_events_show(struct ui *ui, int arg, int key)
{
	const struct snap_site *site = ui_site(ui, ui->detail.site);
	char text[UI_MESSAGE_MAX] = "";

	if (!ui->source->events_follow || !ui_program_runs(ui))
		ui_message(ui, "no running program to follow events of");
	else if (site && ignored_is_row(site))
		ui_message(ui, "events are those of one call site: these are several");
	else if (ui_is_replaced(ui))
		ui_message(ui, "the rows are frozen before an exec: Space shows the new program");
	else if (ui_moment(ui) != SNAP_NOW)
		ui_message(ui, "events are followed as they happen; F returns to LIVE");
	else if (!ui_can_push(ui, VIEW_EVENTS))
		return;
	else if (ui->source->events_follow(ui->source->ctx, ui->detail.site, text, sizeof(text)) !=
		 0)
		ui_message(ui, "%s", text);
	else
		ui_push(ui, VIEW_EVENTS);
}

static void events_facts(const struct ui *ui, struct infoline *s)
{
	const struct snap_site *site = ui_site(ui, ui->detail.site);
	struct row_style style = ui_style(ui);
	const struct event_lines *e = events_of(ui);
	char name[INFOLINE_TEXT], a[UNITS_MAX];

	if (e && e->missed)
		infoline_right(s, 97, STYLE_WARN, "%s events missed", units_count(a, e->missed));
	if (!site)
		return;
	style.site_cells = INFOLINE_TEXT / 4;
	site_name(site, &style, name, sizeof(name));
	infoline_right(s, 96, STYLE_BOLD, "%s", name);
	infoline_elastic(s, NAME_LEAST);
}

static const char *following(const struct ui *ui, const struct event_lines *e)
{
	if (ui->events.copy)
		return "held; Space or G follows again";
	if (e->why)
		return "no more can be read";
	return ui_program_runs(ui) ? "following the end" : "the program has ended";
}

static void events_status(struct ui *ui, char *text, size_t cap)
{
	const struct event_lines *e = events_of(ui);
	const char *why = e && e->why && !ui->events.copy ? e->why : "";
	size_t live = 0;
	char a[UNITS_MAX], b[UNITS_MAX];

	if (!e || !e->count)
		return;
	for (size_t i = 0; i < e->count; i++)
		live += !e->line[i].freed && !is_replaced(e, i);
	units_count(a, e->line[e->count - 1].number);
	snprintf(text, cap, "%s allocation%s%s, %s of the last %zu live   %s%s%s", a,
		units_plural(e->line[e->count - 1].number),
		ui->current && ui->current->sampling.bytes ? " (a sample)" : "",
		units_count(b, live), e->count, following(ui, e), why[0] ? "   " : "", why);
}

static bool events_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	const struct event_lines *e = events_of(ui);
	char text[TEXT_MAX];

	for (int c = 0; e && row < e->count && c < COLUMNS; c++) {
		cell_text(ui, e, row, (enum events_column)c, text);
		if (filter_match_text(f, text))
			return true;
	}
	return false;
}

const struct view view_events = {
	.title = "Events",
	.scope = IN_EVENTS,
	.flags = LAYOUT_COMPACT,
	.open = events_open,
	.close = events_close,
	.update = events_update,
	.moved = events_moved,
	.draw = events_draw,
	.status = events_status,
	.list = events_list,
	.matches = events_matches,
	.facts = events_facts,
	.reset = events_close,
};
