/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded processes of this user as a tree with sums, those of this launch that ended with
 * their peaks, and the change to another one (process_selection.h keeps the selections). Main
 * thread.
 */
#include "tui/view_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/command_words.h"
#include "tui/draw.h"
#include "tui/refresh.h"
#include "tui/table.h"

#define ALIKE_MAX 32 /* other rows of the same program that a command line is compared with */

static const struct table_column process_columns[] = {
	[PROCESS_BY_PID] = { "PID", 8, true, 0, "process id, as seen from here" },
	[PROCESS_BY_STATE] = { "STATE", 9, false, 56,
		"running, stopped, elsewhere (cannot be seen from here), no data, or how it "
		"ended" },
	[PROCESS_BY_LIVE] = { "LIVE", 6, true, 0, "live bytes" },
	[PROCESS_BY_SUM] = { "SUM", 6, true, 60, "live bytes of it and of all processes below it" },
	[PROCESS_BY_PEAK] = { "PEAK", 6, true, 48, "the most live bytes it ever had" },
	[PROCESS_BY_RATE] = { "RATE", 9, true, 110,
		"growth of LIVE per second, over the last refreshes" },
	[PROCESS_BY_RSS] = { "RSS", 6, true, 90, "resident memory" },
	[PROCESS_BY_COMMAND] = { "COMMAND", 0, false, 0,
		"command line, below the process that started it" },
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

static const struct table *processes_table(const struct ui *ui)
{
	return &process_table;
}

static struct table_order *processes_order(struct ui *ui)
{
	return &ui->processes.order;
}

static const struct process_row *processes_at(const struct ui *ui, size_t line)
{
	return &ui->processes.row[ui->processes.line[line].row];
}

static void processes_select_cursor(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	st->has_selected = st->list.cursor < st->list.count;
	if (st->has_selected)
		st->selected = processes_at(ui, st->list.cursor)->id;
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

static void processes_arrange_lines(struct ui *ui)
{
	struct processes_state *st = &ui->processes;
	struct process_lines_request request = { .by = (enum process_column)st->order.sort,
		.reverse = st->order.reverse,
		.folded = st->folded,
		.nfolded = st->folds < PROCESS_FOLDS ? st->folds : PROCESS_FOLDS,
		.no_ended = st->no_ended };

	processes_load(ui);
	st->list.count = processes_lines(st->row, st->count, &request, st->line);
}

static void processes_update(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	processes_arrange_lines(ui);
	for (size_t i = 0; i < st->list.count; i++)
		if (st->has_selected && processes_at(ui, i)->id == st->selected)
			list_follow(&st->list, i);
	list_recount(&st->list, st->list.count);
	processes_select_cursor(ui);
}

/* The cursor starts on the process that is shown. */
static void processes_open(struct ui *ui)
{
	struct processes_state *st = &ui->processes;

	st->list = (struct list){ .height = st->list.height };
	st->loaded = false;
	processes_arrange_lines(ui);
	for (size_t i = 0; i < st->list.count; i++)
		if (processes_at(ui, i)->shown)
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
		ui_message(ui, "this file is of one process; heaptop -l lists those recorded now");
}

/* Where it is among the folded ones, or their number. */
static unsigned fold_find(const struct processes_state *st, uint64_t id)
{
	unsigned count = st->folds < PROCESS_FOLDS ? st->folds : PROCESS_FOLDS, i = 0;

	while (i < count && st->folded[i] != id)
		i++;
	return i;
}

static bool is_folded(const struct processes_state *st, uint64_t id)
{
	return fold_find(st, id) < (st->folds < PROCESS_FOLDS ? st->folds : PROCESS_FOLDS);
}

static void fold_turn(struct processes_state *st, uint64_t id)
{
	if (is_folded(st, id))
		st->folded[fold_find(st, id)] = 0; /* no process's id */
	else
		st->folded[st->folds++ % PROCESS_FOLDS] = id;
}

static bool has_below(const struct process_row *row)
{
	return row->below > 0;
}

/* The line of the process above, or the line itself. */
static size_t processes_above(const struct ui *ui, size_t line)
{
	const struct process_row *row = processes_at(ui, line);
	size_t i = line;

	while (i > 0 && row->level > 0)
		if (processes_at(ui, --i)->level < row->level)
			return i;
	return line;
}

void view_processes_fold(struct ui *ui, int open, int key)
{
	struct processes_state *st = &ui->processes;
	size_t at = st->list.cursor;
	const struct process_row *row;

	if (at >= st->list.count)
		return;
	row = processes_at(ui, at);
	if (has_below(row) && is_folded(st, row->id) == (open != 0))
		fold_turn(st, row->id);
	else if (!open)
		list_select(&st->list, processes_above(ui, at));
	processes_select_cursor(ui);
	processes_update(ui);
}

void view_processes_ended(struct ui *ui, int arg, int key)
{
	ui->processes.no_ended = !ui->processes.no_ended;
	processes_update(ui);
	ui_message(ui, ui->processes.no_ended ? "without the processes that ended (E shows them)"
					      : "with the processes that ended, and their peaks");
}

bool view_processes_hides_ended(const struct ui *ui)
{
	return ui->processes.no_ended;
}

void view_processes_show(struct ui *ui, int arg, int key)
{
	struct processes_state *st = &ui->processes;
	char why[UI_MESSAGE_MAX] = "";
	uint64_t id = st->selected;
	int rc;

	if (!st->has_selected)
		return;
	if (processes_at(ui, st->list.cursor)->kind == PROCESS_HEAD) {
		fold_turn(st, id);
		processes_update(ui);
		return;
	}
	rc = ui->source->process_show(ui->source->ctx, id, why, sizeof(why));
	if (rc != 0)
		ui_message(ui, "%s", why);
	if (rc != 0 && rc != -EINPROGRESS)
		return;
	if (ui->frozen)
		refresh_freeze(ui, false);
	ui_pop(ui);
	st->chosen = true;
	refresh_tick(ui);
	st->chosen = false;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void processes_tree_text(
	const struct process_row *row, const struct process_line *line, char *out, size_t cap)
{
	char *end = out + cap;

	*out = 0;
	for (unsigned i = 1; i < row->level; i++)
		out += snprintf(out, (size_t)(end - out), "%s",
			line->guides >> i & 1 ? draw_glyph(GLYPH_TREE_LINE) : "  ");
	if (row->level)
		snprintf(out, (size_t)(end - out), "%s ",
			draw_glyph(line->last ? GLYPH_TREE_END : GLYPH_TREE_BRANCH));
}

static bool is_recorded(const struct process_row *row)
{
	return row->has_live || !row->why[0];
}

/* Without the program's directory. */
static const char *processes_base(const char *full)
{
	size_t path = strcspn(full, " ");
	const char *slash = memrchr(full, '/', path);

	return slash ? slash + 1 : full;
}

/* The words that other rows of the same program lack, if all of the row's do not fit. */
static bool processes_own_words(
	const struct ui *ui, const struct process_row *row, char *out, size_t cap)
{
	const struct processes_state *st = &ui->processes;
	const char *other[ALIKE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < st->count && n < ALIKE_MAX; i++)
		if (st->row[i].kind == PROCESS_ONE &&
			strcmp(st->row[i].command, row->command) != 0 &&
			command_words_alike(st->row[i].command, row->command))
			other[n++] = st->row[i].command;
	return n > 0 &&
	       command_words_own(row->command, other, n, draw_glyph(GLYPH_ELLIPSIS), out, cap);
}

/* In `cells` cells, but at least the program's name: whole, without its directory, or what tells it
 * from others. */
static void processes_name(const struct ui *ui, const struct process_row *row, size_t cells,
	char out[PROCESSES_COMMAND])
{
	const char *text = row->command[0] ? row->command : "?";
	char own[PROCESSES_COMMAND];
	size_t program;

	if (text_cells(text) > cells)
		text = processes_base(text);
	program = strcspn(text, " ");
	if (text_cells(text) > cells && processes_own_words(ui, row, own, sizeof(own)))
		text = own;
	if (cells < program + 1)
		cells = program + 1; /* and the ellipsis */
	text_elide(out, PROCESSES_COMMAND, text, cells, false, draw_is_ascii());
}

/* What is said behind the command: why nothing is recorded, how many are folded away. */
static void processes_note(
	const struct process_row *row, const struct process_line *line, char *out, size_t cap)
{
	char many[UNITS_MAX];
	bool several = row->kind != PROCESS_ONE;

	*out = 0;
	if (row->why[0])
		snprintf(out, cap, ": %s", row->why);
	else if (several || line->hidden)
		snprintf(out, cap, "%s%s%s", several ? ": " : "  +",
			units_count(many, several ? row->below : line->hidden),
			several && line->hidden ? ", folded" : "");
}

static void processes_command(const struct ui *ui, const struct process_row *row,
	const struct process_line *line, unsigned cells, char *out)
{
	char text[PROCESSES_COMMAND + 512], name[PROCESSES_COMMAND], note[PROCESSES_WHY + 8];
	size_t at, taken;

	processes_tree_text(row, line, text, sizeof(text));
	processes_note(row, line, note, sizeof(note));
	at = strlen(text);
	taken = text_cells(text) + text_cells(note);
	processes_name(ui, row, cells > taken ? cells - taken : 0, name);
	snprintf(text + at, sizeof(text) - at, "%s%s", name, note);
	text_elide(out, COLUMN_TEXT_MAX, text, cells, false, draw_is_ascii());
}

static void processes_bytes(bool known, uint64_t bytes, char out[COLUMN_TEXT_MAX])
{
	if (known)
		units_bytes(out, bytes);
}

static void processes_live(const struct process_row *row, char out[COLUMN_TEXT_MAX])
{
	if (row->ended)
		return;
	strcpy(out, is_recorded(row) ? "?" : "-");
	processes_bytes(row->has_live, row->live_bytes, out);
}

static void processes_cell(const struct ui *ui, const struct process_row *row,
	const struct process_line *line, const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	*out = 0;
	switch ((enum process_column)p->column) {
	case PROCESS_BY_PID:
		if (row->pid)
			sprintf(out, "%d", (int)row->pid);
		break;
	case PROCESS_BY_STATE:
		sprintf(out, "%s", is_recorded(row) ? row->state : "no data");
		break;
	case PROCESS_BY_LIVE:
		processes_live(row, out);
		break;
	case PROCESS_BY_SUM:
		processes_bytes(row->kind == PROCESS_ONE && row->below > 0 &&
					(row->sum_bytes || !row->ended),
			row->sum_bytes, out);
		break;
	case PROCESS_BY_PEAK:
		processes_bytes(row->has_peak, row->peak_bytes, out);
		break;
	case PROCESS_BY_RATE:
		if (row->has_rate && !row->ended)
			units_rate(out, row->rate_bytes_per_s);
		break;
	case PROCESS_BY_RSS:
		processes_bytes(row->has_rss && !row->ended, row->rss_bytes, out);
		break;
	case PROCESS_BY_COMMAND:
		processes_command(ui, row, line, p->cells, out);
	}
}

static enum draw_style processes_style(const struct process_row *row)
{
	if (row->shown)
		return STYLE_BOLD;
	if (row->kind != PROCESS_ONE)
		return STYLE_INFO;
	return is_recorded(row) && !row->ended ? STYLE_PLAIN : STYLE_DIM;
}

static void processes_draw_row(const struct ui *ui, size_t i, int y)
{
	const struct process_row *row = processes_at(ui, i);
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&process_table, &ui->processes.order, ui->layout.width, place);
	bool selected = i == ui->processes.list.cursor;
	enum draw_style style = selected ? STYLE_SELECT : processes_style(row);
	char text[COLUMN_TEXT_MAX];

	if (selected)
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
	draw_text(y, 0, 1, style, selected ? ">" : " ");
	for (unsigned k = 0; k < n; k++) {
		processes_cell(ui, row, &ui->processes.line[i], &place[k], text);
		table_draw_cell(&process_table, place[k], y, style, text);
	}
	if (row->shown) /* a pid has seven digits at most */
		draw_text(y, 1, 1, style, "*");
}

static void processes_draw(struct ui *ui)
{
	const struct list *l = &ui->processes.list;
	int y = ui->layout.y[ROW_BODY];

	table_draw_head(&process_table, &ui->processes.order, ui->layout.y[ROW_HEAD],
		(unsigned)ui->layout.width);
	if (!l->count)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM,
			"none of your processes is recorded");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		processes_draw_row(ui, l->top + i, y + (int)i);
}

static void processes_status(struct ui *ui, char *text, size_t cap)
{
	const struct processes_state *st = &ui->processes;
	char a[UNITS_MAX], more[UNITS_MAX + 32] = "", others[48] = "", gone[48] = "";
	size_t recorded = 0, unrecorded = 0, ended = 0;

	for (size_t i = 0; i < st->count; i++) {
		if (st->row[i].kind != PROCESS_ONE)
			continue;
		ended += st->row[i].ended;
		recorded += is_recorded(&st->row[i]) && !st->row[i].ended;
		unrecorded += !is_recorded(&st->row[i]);
	}
	if (st->more)
		snprintf(more, sizeof(more), ", and %s more", units_count(a, st->more));
	if (unrecorded)
		snprintf(others, sizeof(others), ", %zu not recorded", unrecorded);
	if (ended)
		snprintf(gone, sizeof(gone), ", %zu ended%s", ended, st->no_ended ? " (E)" : "");
	snprintf(text, cap, "%zu recorded process%s%s%s%s%s   * is shown", recorded,
		recorded == 1 ? "" : "es", gone, others, more,
		ended || recorded + unrecorded < 2 ? ""
		: *others			   ? ", each below its parent"
						   : ", each below the one that started it");
}

static bool processes_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)processes_at(ui, row)->pid);
	return filter_match_text(f, processes_at(ui, row)->command) || filter_match_text(f, pid);
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
	.table = processes_table,
	.order = processes_order,
};
