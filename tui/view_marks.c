/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks, the oldest first, and after them now. Each line shows the changes since the mark above
 * it: growth, allocations, and how much of them is still alive. The user chooses here which two
 * marks the site table compares. Main thread.
 */
#include "tui/view_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/trail.h"
#include "tui/refresh.h"
#include "tui/table.h"

enum { IS_NUMBER, IS_USE, IS_TIME, IS_LIVE, IS_GREW, IS_ALLOCS, IS_ALIVE, IS_KEPT, IS_NAME };

static const struct table_column mark_columns[] = {
	{ "MARK", 4, true, 0, "number of the mark" },
	{ "", 4, false, 50, "what the site table counts from, and to" },
	{ "TIME", 7, true, 0, "time since the program's start" },
	{ "LIVE", 6, true, 0, "live bytes at that moment" },
	{ "GREW", 7, true, 0, "growth since the mark above" },
	{ "ALLOCS", 6, true, 64, "blocks allocated since the mark above" },
	{ "ALIVE", 6, true, 72, "bytes of these still alive" },
	{ "KEPT", 5, true, 56, "share of these blocks still alive, in percent" },
	{ "NAME", 0, false, 0, "" },
};
static unsigned mark_off; /* no column can be switched off */
static const struct table mark_table = { .off = &mark_off,
	.column = mark_columns,
	.count = sizeof(mark_columns) / sizeof(mark_columns[0]) };

/* The period of a line: until the moment `to`, or now; since the moment above, or the start. */
struct mark_line {
	const struct snap_mark *to, *from;
};

static struct list *marks_list(struct ui *ui)
{
	return &ui->marks.list;
}

static size_t marks_count(const struct ui *ui)
{
	size_t n = 0;

	for (const struct snap_mark *m = ui->current ? ui->current->moments : NULL; m;
		m = m->before)
		n++;
	return n;
}

static struct mark_line marks_line(const struct ui *ui, size_t row)
{
	const struct snap_mark *m = ui->current->moments;

	if (row + 1 == ui->marks.list.count)
		return (struct mark_line){ .from = m };
	for (size_t i = ui->marks.list.count - 2; m && i > row; i--)
		m = m->before;
	return (struct mark_line){ .to = m, .from = m ? m->before : NULL };
}

static unsigned number_of(const struct snap_mark *m)
{
	return m ? m->number : 0;
}

/* The number of the mark under the cursor; 0: now. */
static unsigned marks_selected(const struct ui *ui)
{
	const struct list *l = &ui->marks.list;

	if (l->cursor + 1 >= l->count)
		return 0;
	return number_of(marks_line(ui, l->cursor).to);
}

static void marks_moved(struct ui *ui)
{
	ui->marks.selected = marks_selected(ui);
}

/*
 * The selection is a mark; new marks are added at the end. Frozen rows do not freeze the marks: the
 * lines are those of the newest snapshot.
 */
static void marks_update(struct ui *ui)
{
	struct list *l = &ui->marks.list;
	size_t n = marks_count(ui);

	l->count = ui->current ? n + 1 : 0;
	for (size_t i = 0; i < l->count; i++) {
		if (number_of(marks_line(ui, i).to) == ui->marks.selected)
			list_follow(l, i);
	}
	list_recount(l, l->count);
	if (l->count)
		marks_moved(ui);
}

static void marks_open(struct ui *ui)
{
	ui->marks.list = (struct list){ .height = ui->marks.list.height, .moved = true };
	ui->marks.selected = 0;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static const char *mark_use(const struct ui *ui, const struct mark_line *line)
{
	const struct snapshot *s = ui->current;

	if (s->since && line->to == s->since)
		return "from";
	return s->since && line->to == s->until ? "to" : "";
}

static void mark_signed(char *out, int64_t bytes)
{
	char text[UNITS_MAX];

	sprintf(out, "%s%s",
		bytes < 0   ? "-"
		: bytes > 0 ? "+"
			    : "",
		units_bytes(text, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes));
}

static void mark_cell(const struct ui *ui, const struct mark_line *line, unsigned column,
	unsigned cells, char out[COLUMN_TEXT_MAX])
{
	const struct snapshot *s = ui->current->kinds ? ui->current->base : ui->current;
	struct snap_since since = mark_list_between(s, line->from, line->to);
	uint64_t alive = line->to ? line->to->alive_blocks : s->newest.kept_blocks;
	uint64_t bytes = line->to ? line->to->alive_bytes : s->newest.kept_bytes;
	uint64_t of = line->to ? since.allocs : s->newest.kept_of;
	bool counted = mark_list_is_counted(s, line->to);

	*out = 0;
	switch (column) {
	case IS_NUMBER:
		snprintf(out, COLUMN_TEXT_MAX, line->to ? "%u" : "now", number_of(line->to));
		break;
	case IS_USE:
		strcpy(out, mark_use(ui, line));
		break;
	case IS_TIME:
		units_duration(out, line->to ? line->to->ns : s->uptime_ns);
		break;
	case IS_LIVE:
		units_bytes(out, line->to ? line->to->live_bytes : s->totals.live_bytes);
		break;
	case IS_GREW:
		mark_signed(out, since.bytes);
		break;
	case IS_ALLOCS:
		units_count(out, since.allocs);
		break;
	case IS_ALIVE:
		strcpy(out, "-");
		if (counted)
			units_bytes(out, bytes);
		break;
	case IS_KEPT:
		strcpy(out, "-");
		if (counted && of)
			units_percent(out, alive < of ? alive : of, of);
		break;
	default:
		text_elide(out, COLUMN_TEXT_MAX, line->to ? line->to->name : "", cells, false,
			draw_is_ascii());
	}
}

static void marks_draw_head(const struct ui *ui, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&mark_table, NULL, ui->layout.width, place);

	draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_cell(
			&mark_table, place[i], y, STYLE_HEAD, mark_columns[place[i].column].title);
}

static void marks_draw_row(const struct ui *ui, size_t row, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&mark_table, NULL, ui->layout.width, place);
	struct mark_line line = marks_line(ui, row);
	bool selected = row == ui->marks.list.cursor;
	char text[COLUMN_TEXT_MAX];

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	for (unsigned i = 0; i < n; i++) {
		mark_cell(ui, &line, place[i].column, place[i].cells, text);
		table_draw_cell(
			&mark_table, place[i], y, selected ? STYLE_SELECT : STYLE_PLAIN, text);
	}
}

static void marks_draw(struct ui *ui)
{
	const struct list *l = &ui->marks.list;
	int y = ui->layout.y[ROW_BODY];

	marks_draw_head(ui, ui->layout.y[ROW_HEAD]);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		marks_draw_row(ui, l->top + i, y + (int)i);
	if (l->count <= 1 && l->height > 2)
		draw_text(y + 2, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			ui->current ? "no marks yet: m marks this moment"
				    : "waiting for the first snapshot");
}

static void marks_status(struct ui *ui, char *text, size_t cap)
{
	size_t n = marks_count(ui);
	char count[UNITS_MAX];

	snprintf(text, cap, "%s mark%s   a line counts from the one above%s", units_count(count, n),
		units_plural(n),
		ui->current && ui->current->kept ? "; ALIVE, KEPT: what is still alive" : "");
}

static bool marks_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	struct mark_line line = marks_line(ui, row);

	return filter_match_text(f, line.to ? line.to->name : "now");
}

static void marks_click(struct ui *ui, int y, int x)
{
	size_t row = ui->marks.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (row >= ui->marks.list.count)
		return;
	list_select(&ui->marks.list, row);
	marks_moved(ui);
}

/* ---- keys --------------------------------------------------------------------------------- */

/* The columns since a mark come with the next snapshot. */
static void marks_choose(struct ui *ui, unsigned since, unsigned until)
{
	char from[MARK_LIST_TEXT], to[MARK_LIST_TEXT] = "now";
	bool was_shown = ui_counts_since(ui);
	const struct snapshot *s;

	if (!ui->source->since) {
		ui_message(ui, "no mark to count from: a single moment is shown");
		return;
	}
	ui->source->since(ui->source->ctx, since, until);
	refresh_now(ui);
	s = ui->current;
	if (ui_moment(ui) != SNAP_NOW && !ui_counts_since(ui)) {
		ui_message(ui, "growth since marks is shown at the newest moment: F returns there");
		return;
	}
	if (!s || !s->since) {
		ui_message(ui, was_shown
				       ? "growth since a mark is no longer shown"
				       : "no growth since a mark was shown (m marks this moment)");
		return;
	}
	mark_list_text(s->since, from);
	if (s->until)
		mark_list_text(s->until, to);
	ui_message(ui, "SINCE, NEW and KEPT count from %s to %s%s", from, to,
		ui->frozen ? ", once the rows are unfrozen" : "");
}

static void name_accept(struct ui *ui, const char *text)
{
	if (!*text)
		return;
	if (ui->current->owner != ui->marks.naming_of) {
		ui_message(ui, "not named: the program has called exec, which ends its marks");
		return;
	}
	ui->source->mark_name(ui->source->ctx, ui->marks.naming, text);
	refresh_now(ui);
}

bool view_marks_can_mark(const struct ui *ui)
{
	return ui->source->mark && ui_program_runs(ui);
}

static unsigned mark_now(struct ui *ui)
{
	char text[UI_MESSAGE_MAX] = "";
	int number;

	/* Checked here too: b in this view sets a mark if the cursor is on "now". */
	if (!ui->source->mark || ui->options.readonly) {
		ui_message(ui, ui->source->mark ? "not marked: heaptop was started with --readonly"
						: "not marked: no program is running");
		return 0;
	}
	number = ui->source->mark(ui->source->ctx, text, sizeof(text));
	if (number > 0)
		refresh_now(ui);
	if (*text)
		ui_message(ui, "%s", text);
	return number > 0 ? (unsigned)number : 0;
}

void view_marks_mark(struct ui *ui, int arg, int key)
{
	unsigned number = mark_now(ui);

	if (!number)
		return;
	ui->marks.naming = number;
	ui->marks.naming_of = ui->current->owner;
	if (!ui->message[0])
		ui_message(ui, "mark %u: SINCE is the growth since then; ` compares marks", number);
	prompt_open(&ui->prompt,
		ui_moment(ui) == SNAP_NOW ? "marked; name (Enter: none):"
					  : "marked now, not the moment shown; name (Enter: none):",
		"", name_accept);
}

void view_marks_from(struct ui *ui, int arg, int key)
{
	bool here = ui_view(ui) == view_table[VIEW_MARKS] && ui->marks.selected;
	unsigned until = ui->current ? number_of(ui->current->until) : 0;
	unsigned from = here ? ui->marks.selected : mark_now(ui);

	if (from)
		marks_choose(ui, from, until > from && here ? until : 0);
}

void view_marks_to(struct ui *ui, int arg, int key)
{
	unsigned since = ui->current ? number_of(ui->current->since) : 0;

	if (!since)
		ui_message(ui, "first choose a mark to count from (b)");
	else if (ui->marks.selected && ui->marks.selected <= since)
		ui_message(ui, "that is not after mark %u, where counting starts", since);
	else
		marks_choose(ui, since, ui->marks.selected);
}

void view_marks_clear(struct ui *ui, int arg, int key)
{
	marks_choose(ui, 0, 0);
}

void view_marks_show(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == view_table[VIEW_MARKS])
		ui_pop(ui);
	else
		ui_push(ui, VIEW_MARKS);
}

void view_marks_sites(struct ui *ui, int arg, int key)
{
	if (!ui->current || !ui->current->since) {
		ui_message(ui, "first choose a mark to count from (b)");
		return;
	}
	ui->set = COLUMNS_MEMORY; /* other sets have no room for NEW and KEPT beside their own */
	ui->sites.scroll = 0;
	ui->sites.drawn = 0; /* a held order is the one requested last */
	ui->sort = COL_SINCE;
	ui->reverse = false;
	trail_leave(ui, VIEW_SITES, 1);
	ui_tab(ui, VIEW_SITES);
	refresh_anew(ui);
}

const struct view view_marks = {
	.title = "Marks",
	.scope = IN_MARKS,
	.open = marks_open,
	.update = marks_update,
	.refreshed = marks_update,
	.moved = marks_moved,
	.draw = marks_draw,
	.status = marks_status,
	.list = marks_list,
	.click = marks_click,
	.matches = marks_matches,
};
