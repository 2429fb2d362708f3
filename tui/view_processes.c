/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded processes of this user as a tree, and the change to another one (process_selection.h
 * keeps the selections). Main thread.
 */
#include "tui/view_processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/refresh.h"
#include "tui/table.h"

enum { BY_PID, BY_STATE, BY_LIVE, BY_RATE, BY_RSS, BY_COMMAND };

static const struct table_column process_columns[] = {
	{ "PID", 8, true, 0, "process id, as seen from here" },
	{ "STATE", 9, false, 56,
		"running, stopped, ended, elsewhere (cannot be seen from here), or no data" },
	{ "LIVE", 7, true, 0, "live bytes" },
	{ "RATE", 9, true, 48, "growth of LIVE per second, over the last refreshes" },
	{ "RSS", 7, true, 64, "resident memory" },
	{ "COMMAND", 0, false, 0, "command line, below the process that started it" },
};
static unsigned process_off; /* these columns cannot be switched off */
static const struct table process_table = { .column = process_columns,
	.count = sizeof(process_columns) / sizeof(process_columns[0]),
	.off = &process_off };

/* ---- the list ----------------------------------------------------------------------------- */

static struct list *processes_list_of(struct ui *ui)
{
	return &ui->processes.list;
}

static void processes_select_cursor(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = st->row[st->list.cursor].id;
}

/* Reads the rows once per tick, however often the view updates. */
static void processes_load(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	if (st->loaded && st->loaded_tick == ui->ticks)
		return;
	st->count = ui->source->processes(ui->source->ctx, &st->row, &st->more);
	st->loaded = true;
	st->loaded_tick = ui->ticks;
}

static void processes_update(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	processes_load(ui);
	st->list.count = st->count;
	for (size_t i = 0; i < st->count; i++)
		if (st->has_selected && st->row[i].id == st->selected)
			list_follow(&st->list, i);
	list_recount(&st->list, st->count);
	processes_select_cursor(ui);
}

/* The cursor starts on the process that is shown. */
static void processes_open(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	st->list = (struct list){ .height = st->list.height };
	st->loaded = false;
	processes_load(ui);
	st->list.count = st->count;
	for (size_t i = 0; i < st->count; i++)
		if (st->row[i].shown)
			list_select(&st->list, i);
	processes_select_cursor(ui);
}

/* ---- keys --------------------------------------------------------------------------------- */

void view_processes_toggle(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == &view_processes)
		ui_pop(ui);
	else if (ui->source->processes)
		ui_push(ui, VIEW_PROCESSES);
	else
		ui_message(ui, "no list of processes here");
}

void view_processes_show(struct ui *ui, int arg, int key)
{
	struct processes_state *st = &ui->processes;
	char why[UI_MESSAGE_MAX] = "";
	uint64_t id = st->selected;

	if (!st->has_selected)
		return;
	if (ui->source->process_show(ui->source->ctx, id, why, sizeof(why)) != 0) {
		ui_message(ui, "%s", why);
		return;
	}
	if (ui->frozen)
		refresh_freeze(ui, false);
	ui_pop(ui);
	refresh_tick(ui);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void processes_tree_text(const struct process_row *row, char *out, size_t cap)
{
	char *end = out + cap;

	*out = 0;
	for (unsigned i = 1; i < row->level; i++)
		out += snprintf(out, (size_t)(end - out), "%s",
			row->guides >> i & 1 ? draw_glyph(GLYPH_TREE_LINE) : "  ");
	if (row->level)
		snprintf(out, (size_t)(end - out), "%s ",
			draw_glyph(row->last ? GLYPH_TREE_END : GLYPH_TREE_BRANCH));
}

static bool is_recorded(const struct process_row *row)
{
	return row->has_live || !row->why[0];
}

/* At most `cells` cells, but at least the program's name, without its directory if necessary. */
static void processes_name(const char *full, size_t cells, char out[PROCESSES_COMMAND])
{
	size_t path = strcspn(full, " "), folder = path;

	while (folder && full[folder - 1] != '/')
		folder--;
	if (text_cells(full) > cells)
		full += folder;
	else
		folder = 0;
	if (cells < path - folder + 1)
		cells = path - folder + 1; /* and the ellipsis */
	text_elide(out, PROCESSES_COMMAND, full, cells, false, draw_is_ascii());
}

static void processes_command(const struct process_row *row, unsigned cells, char *out)
{
	const char *full = row->command[0] ? row->command : "?";
	char text[1024], name[PROCESSES_COMMAND];
	size_t at, taken;

	processes_tree_text(row, text, sizeof(text));
	at = strlen(text);
	taken = text_cells(text) + (row->why[0] ? text_cells(row->why) + 2 : 0);
	processes_name(full, cells > taken ? cells - taken : 0, name);
	snprintf(text + at, sizeof(text) - at, "%s%s%s", name, row->why[0] ? ": " : "", row->why);
	text_elide(out, COLUMN_TEXT_MAX, text, cells, false, draw_is_ascii());
}

static void processes_cell(
	const struct process_row *row, const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	*out = 0;
	switch (p->column) {
	case BY_PID:
		sprintf(out, "%d", (int)row->pid);
		break;
	case BY_STATE:
		sprintf(out, "%s", is_recorded(row) ? row->state : "no data");
		break;
	case BY_LIVE:
		strcpy(out, is_recorded(row) ? "?" : "-");
		if (row->has_live)
			units_bytes(out, row->live_bytes);
		break;
	case BY_RATE:
		if (row->has_rate)
			units_rate(out, row->rate_bytes_per_s);
		break;
	case BY_RSS:
		if (row->has_rss)
			units_bytes(out, row->rss_bytes);
		break;
	default:
		processes_command(row, p->cells, out);
	}
}

static void processes_draw_row(const struct ui *ui, size_t i, int y)
{
	const struct process_row *row = &ui->processes.row[i];
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&process_table, NULL, ui->layout.width, place);
	bool selected = i == ui->processes.list.cursor;
	enum draw_style style = selected	   ? STYLE_SELECT
				: row->shown	   ? STYLE_BOLD
				: is_recorded(row) ? STYLE_PLAIN
						   : STYLE_DIM;
	char text[COLUMN_TEXT_MAX];

	if (selected)
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
	draw_text(y, 0, 1, style, selected ? ">" : " ");
	for (unsigned k = 0; k < n; k++) {
		processes_cell(row, &place[k], text);
		table_draw_cell(&process_table, place[k], y, style, text);
	}
	if (row->shown) /* a pid has seven digits at most */
		draw_text(y, 1, 1, style, "*");
}

/* A tree is not sorted, so its columns have no digits. */
static void processes_draw_head(const struct ui *ui, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&process_table, NULL, ui->layout.width, place);

	draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_HEAD);
	for (unsigned k = 0; k < n; k++)
		table_draw_cell(&process_table, place[k], y, STYLE_HEAD,
			process_columns[place[k].column].title);
}

static void processes_draw(struct ui *ui)
{
	const struct list *l = &ui->processes.list;
	int y = ui->layout.y[ROW_BODY];

	processes_draw_head(ui, ui->layout.y[ROW_HEAD]);
	if (!l->count)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			"none of your processes is recorded");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		processes_draw_row(ui, l->top + i, y + (int)i);
}

static void processes_status(struct ui *ui, char *text, size_t cap)
{
	const struct processes_state *st = &ui->processes;
	char a[UNITS_MAX], more[UNITS_MAX + 32] = "", others[48] = "";
	size_t recorded = 0;

	for (size_t i = 0; i < st->count; i++)
		recorded += is_recorded(&st->row[i]);
	if (st->more)
		snprintf(more, sizeof(more), ", and %s more", units_count(a, st->more));
	if (recorded < st->count)
		snprintf(others, sizeof(others), ", %zu not recorded", st->count - recorded);
	snprintf(text, cap, "%zu recorded process%s%s%s, each below %s   * is shown", recorded,
		recorded == 1 ? "" : "es", others, more,
		*others ? "its parent" : "the one that started it");
}

static bool processes_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)ui->processes.row[row].pid);
	return filter_match_text(f, ui->processes.row[row].command) || filter_match_text(f, pid);
}

static void processes_click(struct ui *ui, int y, int x)
{
	struct list *l = &ui->processes.list;
	size_t row = l->top + (size_t)(y - ui->layout.y[ROW_BODY]);
	bool again = row == l->cursor;

	if (row >= l->count)
		return;
	list_select(l, row);
	processes_select_cursor(ui);
	if (again)
		view_processes_show(ui, 0, 0);
}

const struct view view_processes = {
	.title = "Processes",
	.scope = IN_PROCESSES,
	.flags = LAYOUT_COMPACT,
	.open = processes_open,
	.update = processes_update,
	.moved = processes_select_cursor,
	.draw = processes_draw,
	.status = processes_status,
	.list = processes_list_of,
	.click = processes_click,
	.matches = processes_matches,
};
