/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's own output: what it wrote to the terminal that we gave it, with its scrollback.
 * Lines come from the source by number, already clean; only visible ones are read. The list follows
 * the end until it is scrolled back. Main thread.
 */
#include "tui/view_output.h"

#include <stdio.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/find.h"

static struct list *output_list(struct ui *ui)
{
	return &ui->output.list;
}

static bool output_present(const struct ui *ui)
{
	return ui->source->output_lines && ui->source->output_line;
}

static void output_update(struct ui *ui)
{
	struct output_state *st = &ui->output;

	st->list.scroll_only = true;
	list_recount(&st->list, ui->source->output_lines(ui->source->ctx));
	if (st->follow)
		list_go(&st->list, LIST_END);
}

static void output_moved(struct ui *ui)
{
	ui->output.follow = list_at_end(&ui->output.list);
}

static void output_draw(struct ui *ui)
{
	const struct list *l = &ui->output.list;
	unsigned width = (unsigned)ui->layout.width;

	output_update(ui);
	if (!l->count)
		draw_text(ui->layout.y[ROW_BODY], 2, width - 2, STYLE_DIM,
			"the program has written nothing yet");
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++) {
		const char *line = ui->source->output_line(ui->source->ctx, l->top + i);

		if (line)
			draw_text(ui->layout.y[ROW_BODY] + (int)i, 0, width,
				find_is_match(ui, line) ? STYLE_SELECT : STYLE_PLAIN,
				line + text_fit(line, ui->output.shift, NULL));
	}
}

static bool output_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	const char *line = ui->source->output_line(ui->source->ctx, row);

	return line && filter_match_text(f, line);
}

static void output_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->output.list;
	char a[UNITS_MAX];

	snprintf(text, cap, "%s lines   %s", units_count(a, l->count),
		ui->output.follow ? "following the end" : "scrolled back; G or End follows again");
}

void view_output_resize(struct ui *ui)
{
	struct output_state *st = &ui->output;
	struct layout l;

	if (!ui->source->output_resize || !output_present(ui))
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
	.present = output_present,
	.update = output_update,
	.moved = output_moved,
	.draw = output_draw,
	.status = output_status,
	.list = output_list,
	.matches = output_matches,
};
