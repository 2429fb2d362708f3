/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's own terminal: what it wrote there, with its scrollback; and the keyboard, lent to
 * the program. Lines come from the source by number; only visible ones are read. The list follows
 * the end until it is scrolled back. Main thread.
 */
#include "tui/view_output.h"

#include <stdio.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/curses_api.h"
#include "tui/draw.h"
#include "tui/find.h"
#include "tui/key_codes.h"

static struct list *output_list(struct ui *ui)
{
	return &ui->output.list;
}

static const struct tui_missing *output_missing(const struct ui *ui)
{
	return ui->source->output_lines ? NULL : &ui->source->no_output;
}

/* What is read stays where it is, until its own lines are no longer kept. */
static void dropped_follow(struct ui *ui)
{
	struct output_state *st = &ui->output;
	uint64_t dropped =
		ui->source->output_dropped ? ui->source->output_dropped(ui->source->ctx) : 0;
	size_t gone = dropped > st->dropped ? (size_t)(dropped - st->dropped) : 0;

	st->list.top -= gone < st->list.top ? gone : st->list.top;
	st->list.cursor -= gone < st->list.cursor ? gone : st->list.cursor;
	st->dropped = dropped;
}

static void output_update(struct ui *ui)
{
	struct output_state *st = &ui->output;
	size_t lines;

	if (output_missing(ui))
		return;
	lines = ui->source->output_lines(ui->source->ctx);
	if (st->typing && !ui_program_runs(ui)) {
		st->typing = false;
		ui_message(ui, "the program has ended: the keyboard is heaptop's again");
	}
	if (st->typing) {
		st->has_cursor = ui->source->output_cursor(
			ui->source->ctx, &st->cursor_line, &st->cursor_cell);
		lines = lines > st->cursor_line ? lines : st->cursor_line + 1;
	}
	st->list.scroll_only = true;
	dropped_follow(ui);
	list_recount(&st->list, lines);
	if (st->follow)
		list_go(&st->list, LIST_END);
}

static void output_moved(struct ui *ui)
{
	ui->output.follow = list_at_end(&ui->output.list);
}

/* The part of a run that is not scrolled out at the left. */
static void run_draw(const struct ui *ui, int y, const struct term_run *r, const char *text)
{
	unsigned shift = ui->output.shift, width = (unsigned)ui->layout.width;
	unsigned cut = shift > r->at ? shift - r->at : 0, x = r->at + cut - shift;
	char piece[4096];
	const char *from;

	if (cut >= r->cells || x >= width)
		return;
	snprintf(piece, sizeof(piece), "%.*s", (int)r->bytes, text + r->from);
	from = piece + text_fit(piece, cut, NULL);
	draw_program(y, (int)x, r->cells - cut < width - x ? r->cells - cut : width - x, &r->style,
		from);
}

static void line_draw(const struct ui *ui, int y, size_t i)
{
	struct term_line line;

	ui->source->output_line(ui->source->ctx, i, &line);
	if (find_is_match(ui, line.text)) {
		draw_text(y, 0, (unsigned)ui->layout.width, STYLE_SELECT,
			line.text + text_fit(line.text, ui->output.shift, NULL));
		return;
	}
	for (size_t n = 0; n < line.runs; n++)
		run_draw(ui, y, &line.run[n], line.text);
}

static void output_draw(struct ui *ui)
{
	const struct list *l = &ui->output.list;
	unsigned width = (unsigned)ui->layout.width;

	output_update(ui);
	if (!l->count)
		draw_text(ui->layout.y[ROW_BODY], 2, width - 2, STYLE_DIM,
			"nothing is on the program's terminal");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++)
		line_draw(ui, ui->layout.y[ROW_BODY] + (int)i, l->top + i);
}

static bool output_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	struct term_line line;

	ui->source->output_line(ui->source->ctx, row, &line);
	return filter_match_text(f, line.text);
}

static void output_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->output.list;
	char a[UNITS_MAX], how[48];

	if (ui->output.typing)
		snprintf(text, cap, "the keyboard is the program's");
	else if (ui->current && !ui_program_runs(ui))
		snprintf(text, cap, "%s line%s   the program %s", units_count(a, l->count),
			units_plural(l->count), snapshot_state_text(ui->current, how));
	else
		snprintf(text, cap, "%s line%s   %s", units_count(a, l->count),
			units_plural(l->count),
			ui->output.follow ? "following the end"
					  : "scrolled back; G or End follows again");
}

static void output_close(struct ui *ui)
{
	ui->output.typing = false;
}

/* ---- the keyboard ---- */

bool view_output_types(const struct ui *ui)
{
	return ui->output.typing && !ui->prompt.open && ui_view(ui) == &view_output;
}

bool view_output_cursor(const struct ui *ui, int *y, int *x)
{
	const struct output_state *st = &ui->output;

	if (!view_output_types(ui) || !st->has_cursor || st->cursor_line < st->list.top ||
		st->cursor_line >= st->list.top + st->list.height || st->cursor_cell < st->shift)
		return false;
	*y = ui->layout.y[ROW_BODY] + (int)(st->cursor_line - st->list.top);
	*x = (int)(st->cursor_cell - st->shift);
	return *x < ui->layout.width;
}

bool view_output_can_give(const struct ui *ui)
{
	return ui->source->output_type && ui_program_runs(ui);
}

void view_output_give(struct ui *ui, int arg, int key)
{
	static const char back[] = { KEY_CTRL(']') };

	if (!view_output_can_give(ui)) {
		ui_message(ui, "the program has ended and reads no input");
		return;
	}
	if (key == KEY_CTRL(']') && ui->output.just_back)
		ui->source->output_type(ui->source->ctx, back, sizeof(back));
	ui->output.just_back = false;
	ui->output.typing = ui->output.follow = true;
	ui->output.shift = 0;
}

static const struct {
	int key;
	enum term_press press;
} presses[] = {
	{ KEY_UP, TERM_PRESS_UP },
	{ KEY_DOWN, TERM_PRESS_DOWN },
	{ KEY_LEFT, TERM_PRESS_LEFT },
	{ KEY_RIGHT, TERM_PRESS_RIGHT },
	{ KEY_HOME, TERM_PRESS_HOME },
	{ KEY_END, TERM_PRESS_END },
	{ KEY_PPAGE, TERM_PRESS_PAGE_UP },
	{ KEY_NPAGE, TERM_PRESS_PAGE_DOWN },
	{ KEY_IC, TERM_PRESS_INSERT },
	{ KEY_DC, TERM_PRESS_DELETE },
	{ KEY_BACKSPACE, TERM_PRESS_BACKSPACE },
	{ KEY_BTAB, TERM_PRESS_BACK_TAB },
};

static void press(struct ui *ui, int key)
{
	if (key > KEY_F(0) && key <= KEY_F(12))
		ui->source->output_press(
			ui->source->ctx, (enum term_press)(TERM_PRESS_F + (key - KEY_F(0))));
	for (size_t i = 0; i < sizeof(presses) / sizeof(presses[0]); i++)
		if (presses[i].key == key)
			ui->source->output_press(ui->source->ctx, presses[i].press);
}

void view_output_key(struct ui *ui, int key)
{
	char byte = (char)key;

	if (key == KEY_CTRL(']')) {
		ui->output.typing = false;
		ui->output.just_back = true;
		return;
	}
	ui->output.follow = true;
	if (key == KEY_ENTER)
		byte = '\r';
	if (key == KEY_ENTER || (key >= 0 && key <= 0xff))
		ui->source->output_type(ui->source->ctx, &byte, 1);
	else
		press(ui, key);
}

void view_output_resize(struct ui *ui)
{
	struct output_state *st = &ui->output;
	struct layout l;

	if (!ui->source->output_resize || output_missing(ui))
		return;
	/* The size with the header: hiding it must not resize the program's terminal. */
	layout_make(&l, ui->layout.width, ui->layout.height, view_output.flags);
	if (l.tiny || (l.body_height == st->rows && l.width == st->cols))
		return;
	st->rows = l.body_height;
	st->cols = l.width;
	ui->source->output_resize(ui->source->ctx, st->rows, st->cols);
}

const struct view view_output = {
	.title = "Output",
	.scope = IN_OUTPUT,
	.flags = LAYOUT_NO_HEAD | LAYOUT_COMPACT,
	.missing = output_missing,
	.update = output_update,
	.close = output_close,
	.moved = output_moved,
	.draw = output_draw,
	.status = output_status,
	.list = output_list,
	.matches = output_matches,
};
