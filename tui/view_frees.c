/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wrong frees: a row for each kind, call stack that frees, and call site of the blocks. Enter lists
 * both stacks below a row, where they stay while rows come and go. Main thread.
 */
#include "tui/view_frees.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "src/model/wrong_frees.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/table.h"

#define FRAME_INDENT 8

enum { BY_COUNT, BY_KIND, BY_BYTES, BY_PLACES };

static const struct table_column free_columns[] = {
	{ "COUNT", 6, true, 0, "number of such frees" },
	{ "KIND", 10, false, 0, "what is wrong" },
	{ "BYTES", 6, true, 60, "of the blocks" },
	{ "FREED; ALLOCATED", 0, false, 0, "the functions, and where they are called" },
};
static unsigned free_off; /* no column can be switched off */
static const struct table free_table = { .off = &free_off,
	.column = free_columns,
	.count = sizeof(free_columns) / sizeof(free_columns[0]) };

/* A line of the list: a row, or one of what is listed below it. */
struct free_line {
	const struct snap_wrong_free *row;
	size_t below; /* 0: the row */
	const char *heading; /* of a stack, or what is said instead of one */
	const struct frame *frame;
};

static struct list *frees_list(struct ui *ui)
{
	return &ui->frees.list;
}

static bool is_row(const struct frees_row *row, const struct snap_wrong_free *f)
{
	return row->kind == f->kind && row->site == f->site && row->alloc_site == f->alloc_site;
}

static struct frees_row row_of(const struct snap_wrong_free *f)
{
	return (struct frees_row){ f->kind, f->site, f->alloc_site };
}

static bool is_open(const struct ui *ui, const struct snap_wrong_free *f)
{
	return ui->frees.has_open && is_row(&ui->frees.open, f);
}

/* Lines that a stack takes, with its heading. */
static size_t stack_lines(const struct stack *stack)
{
	return 1 + (stack ? stack->nframes : 0);
}

/* Lines of the stack that freed the block before; 0: it is not remembered. */
static size_t first_lines(const struct snap_wrong_free *f)
{
	return f->first_site ? stack_lines(f->first_stack) : 0;
}

static size_t row_lines(const struct ui *ui, const struct snap_wrong_free *f)
{
	return is_open(ui, f)
		       ? 2 + stack_lines(f->stack) + first_lines(f) + stack_lines(f->alloc_stack)
		       : 1;
}

static size_t lines_count(const struct ui *ui)
{
	size_t n = 0;

	for (size_t i = 0; ui->current && i < ui->current->nwrong; i++)
		n += row_lines(ui, &ui->current->wrong[i]);
	return n;
}

/* Line `i` of a stack. */
static void stack_line(
	struct free_line *line, const struct stack *stack, size_t i, const char *heading)
{
	if (i == 0)
		line->heading = stack ? heading : "(the stack is not known)";
	else
		line->frame = snapshot_frame(stack, (uint32_t)i - 1);
}

static struct free_line below_row(const struct snap_wrong_free *f, size_t i)
{
	struct free_line line = { .row = f, .below = i + 1 };
	size_t freed = stack_lines(f->stack), first = first_lines(f);

	if (i == 0)
		line.heading = "";
	else if (i <= freed)
		stack_line(&line, f->stack, i - 1, "freed");
	else if (i <= freed + first)
		stack_line(&line, f->first_stack, i - 1 - freed, "freed before");
	else
		stack_line(&line, f->alloc_stack, i - 1 - freed - first, "allocated");
	return line;
}

static struct free_line line_at(const struct ui *ui, size_t at)
{
	for (size_t i = 0; ui->current && i < ui->current->nwrong; i++) {
		const struct snap_wrong_free *f = &ui->current->wrong[i];
		size_t lines = row_lines(ui, f);

		if (at == 0)
			return (struct free_line){ .row = f };
		if (at < lines)
			return below_row(f, at - 1);
		at -= lines;
	}
	return (struct free_line){ .row = NULL };
}

/* ---- selection ---------------------------------------------------------------------------- */

static void frees_moved(struct ui *ui)
{
	struct frees_state *st = &ui->frees;
	struct free_line line = line_at(ui, st->list.cursor);

	st->has_selected = line.row != NULL;
	if (line.row)
		st->selected = row_of(line.row);
	st->below = line.below;
}

/* The line of a row, below rows that may have more lines than one; SIZE_MAX: it is gone. */
static size_t line_find(const struct ui *ui, const struct frees_row *row)
{
	size_t at = 0;

	for (size_t i = 0; ui->current && i < ui->current->nwrong; i++) {
		if (is_row(row, &ui->current->wrong[i]))
			return at;
		at += row_lines(ui, &ui->current->wrong[i]);
	}
	return SIZE_MAX;
}

/* The cursor stays on its row. A cursor that was never moved stays on row 0. */
static void selection_follow(struct ui *ui)
{
	struct frees_state *st = &ui->frees;
	size_t at = st->has_selected && st->list.moved ? line_find(ui, &st->selected) : SIZE_MAX;
	const struct snap_wrong_free *f = at != SIZE_MAX ? line_at(ui, at).row : NULL;

	if (f)
		list_follow(&st->list, at + (st->below < row_lines(ui, f) ? st->below : 0));
}

/* The rows are those of the newest snapshot, also while the others are frozen. */
static void frees_update(struct ui *ui)
{
	ui->frees.list.count = lines_count(ui);
	selection_follow(ui);
	list_recount(&ui->frees.list, ui->frees.list.count);
	if (ui->frees.list.count > 0) /* a moment without rows leaves the selection to the next */
		frees_moved(ui);
}

static void frees_open(struct ui *ui)
{
	ui->frees.list = (struct list){ .height = ui->frees.list.height };
	frees_update(ui);
}

static void frees_reset(struct ui *ui)
{
	ui->frees = (struct frees_state){ .list.height = ui->frees.list.height };
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* "free in main" */
static void place_text(const struct ui *ui, const char *function, const struct stack *stack,
	char out[COLUMN_TEXT_MAX])
{
	struct row_style style = ui_style(ui);
	char name[COLUMN_TEXT_MAX / 2] = "";

	if (stack)
		frame_name(snapshot_frame(stack, stack->title), style.names, 0, draw_is_ascii(),
			name, sizeof(name));
	snprintf(out, COLUMN_TEXT_MAX, "%s%s%s", function ? function : "?", *name ? " in " : "",
		name);
}

static void row_cell(const struct ui *ui, const struct snap_wrong_free *f,
	const struct table_place *p, char out[COLUMN_TEXT_MAX])
{
	char freed[COLUMN_TEXT_MAX], allocated[COLUMN_TEXT_MAX], both[2 * COLUMN_TEXT_MAX + 4];

	switch (p->column) {
	case BY_COUNT:
		units_count(out, f->count);
		break;
	case BY_KIND:
		strcpy(out, snapshot_wrong_word(f->kind));
		break;
	case BY_BYTES:
		units_bytes(out, f->bytes);
		break;
	default:
		place_text(ui, f->freed_by, f->stack, freed);
		place_text(ui, f->allocated_by, f->alloc_stack, allocated);
		snprintf(both, sizeof(both), "%s%s%s", freed, f->alloc_site ? "; " : "",
			f->alloc_site ? allocated : "");
		text_elide(out, COLUMN_TEXT_MAX, both, p->cells, false, draw_is_ascii());
	}
}

static void row_draw(
	const struct ui *ui, const struct snap_wrong_free *f, int y, enum draw_style style)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&free_table, NULL, ui->layout.width, place);
	char text[COLUMN_TEXT_MAX];

	for (unsigned i = 0; i < n; i++) {
		row_cell(ui, f, &place[i], text);
		table_draw_cell(&free_table, place[i], y, style, text);
	}
}

static void frame_text(const struct ui *ui, const struct frame *f, char out[COLUMN_TEXT_MAX])
{
	struct row_style style = ui_style(ui);
	char name[COLUMN_TEXT_MAX / 2], place[COLUMN_TEXT_MAX / 4];

	frame_name(f, style.names, 0, draw_is_ascii(), name, sizeof(name));
	frame_place(f, 0, draw_is_ascii(), place, sizeof(place));
	snprintf(out, COLUMN_TEXT_MAX, "%s%s%s", name, *place ? "  " : "", place);
}

/* The text of a line below a row. */
static void below_text(const struct ui *ui, const struct free_line *line, char out[COLUMN_TEXT_MAX])
{
	char all[WRONG_FREES_LINE_MAX];

	if (line->frame)
		frame_text(ui, line->frame, out);
	else
		snprintf(out, COLUMN_TEXT_MAX, "%s",
			*line->heading ? line->heading : wrong_frees_line(line->row, all));
}

static void line_draw(const struct ui *ui, size_t at, int y)
{
	struct free_line line = line_at(ui, at);
	bool selected = at == ui->frees.list.cursor;
	enum draw_style style = selected ? STYLE_SELECT : STYLE_PLAIN;
	char text[COLUMN_TEXT_MAX], cut[COLUMN_TEXT_MAX];
	int x = line.frame ? FRAME_INDENT : FRAME_INDENT - 2;
	unsigned cells = (unsigned)(ui->layout.width - x);

	if (selected) {
		draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_SELECT);
		draw_text(y, 0, 1, STYLE_SELECT, ">");
	}
	if (line.row && line.below == 0) {
		row_draw(ui, line.row, y, style);
	} else if (line.row && ui->layout.width > x) {
		below_text(ui, &line, text);
		text_elide(cut, sizeof(cut), text, cells, false, draw_is_ascii());
		draw_text(y, x, cells, selected || line.frame ? style : STYLE_BOLD, cut);
	}
}

static const char *empty_text(const struct ui *ui)
{
	if (!ui->current)
		return "waiting for the first snapshot";
	return ui->current->wrong ? "no wrong frees" : "wrong frees are not known for this moment";
}

static void head_draw(const struct ui *ui, int y)
{
	struct table_place place[TABLE_COLUMNS];
	unsigned n = table_fit(&free_table, NULL, ui->layout.width, place);

	draw_fill(y, 0, (unsigned)ui->layout.width, STYLE_HEAD);
	for (unsigned i = 0; i < n; i++)
		table_draw_cell(
			&free_table, place[i], y, STYLE_HEAD, free_columns[place[i].column].title);
}

static void frees_draw(struct ui *ui)
{
	const struct list *l = &ui->frees.list;
	int y = ui->layout.y[ROW_BODY];

	head_draw(ui, ui->layout.y[ROW_HEAD]);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		line_draw(ui, l->top + i, y + (int)i);
	if (l->count == 0)
		draw_text(y, 2, (unsigned)ui->layout.width - 2, STYLE_DIM, empty_text(ui));
}

static void frees_status(struct ui *ui, char *text, size_t cap)
{
	char all[UNITS_MAX], bad[UNITS_MAX];

	if (!ui->current || !ui->current->nwrong)
		return;
	snprintf(text, cap,
		"%s of no block or freed twice   %s by the wrong function or with the wrong size",
		units_count(bad, wrong_frees_bad(ui->current)),
		units_count(all, wrong_frees_mismatched(ui->current)));
}

static bool frees_matches(const struct ui *ui, const struct filter *f, size_t at)
{
	struct free_line line = line_at(ui, at);
	struct table_place place = { .column = BY_PLACES, .cells = COLUMN_TEXT_MAX - 1 };
	char text[COLUMN_TEXT_MAX];

	if (!line.row)
		return false;
	if (line.below == 0)
		row_cell(ui, line.row, &place, text);
	else
		below_text(ui, &line, text);
	return filter_match_text(f, text);
}

static void frees_click(struct ui *ui, int y, int x)
{
	size_t at = ui->frees.list.top + (size_t)(y - ui->layout.y[ROW_BODY]);

	if (at >= ui->frees.list.count)
		return;
	list_select(&ui->frees.list, at);
	frees_moved(ui);
}

/* ---- keys --------------------------------------------------------------------------------- */

void view_frees_show(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == view_table[VIEW_FREES])
		ui_pop(ui);
	else
		ui_push(ui, VIEW_FREES);
}

/* The cursor goes to the row, which is chosen by that. */
void view_frees_stacks(struct ui *ui, int arg, int key)
{
	struct frees_state *st = &ui->frees;
	const struct snap_wrong_free *f = line_at(ui, st->list.cursor).row;

	if (!f)
		return;
	st->has_open = !is_open(ui, f);
	st->open = row_of(f);
	list_recount(&st->list, lines_count(ui));
	list_select(&st->list, line_find(ui, &st->open));
	st->list.moved = true;
	frees_moved(ui);
}

bool view_frees_is_open(const struct ui *ui)
{
	const struct snap_wrong_free *f = line_at(ui, ui->frees.list.cursor).row;

	return f && is_open(ui, f);
}

const struct view view_frees = {
	.title = "Wrong frees",
	.scope = IN_FREES,
	.open = frees_open,
	.update = frees_update,
	.refreshed = frees_update,
	.moved = frees_moved,
	.draw = frees_draw,
	.status = frees_status,
	.list = frees_list,
	.click = frees_click,
	.matches = frees_matches,
	.reset = frees_reset,
};
