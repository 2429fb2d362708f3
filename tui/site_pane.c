/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pane below the site table (site_pane.h): where a table would leave lines blank, or has many,
 * the stack of the selected site is worth more than further rows. Called for each frame, on the
 * main thread.
 */
#include "tui/site_pane.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"

#define BODY_LEAST   30 /* lines of the body from which on there is a pane */
#define PANE_SHARE   3 /* it takes this part of them, */
#define PANE_MOST    20 /* at most */
#define PLACE_CELLS  32
#define NUMBER_CELLS 5 /* " 12  " before a frame */
#define FRAMES_WIDE  140 /* from this width on, frames may be in two columns */
#define NAME_LEAST   60 /* cells of names in one column */

int site_pane_lines(const struct ui *ui)
{
	int lines = ui->layout.body_height / PANE_SHARE;

	if (ui->layout.body_height < BODY_LEAST)
		return 0;
	return lines < PANE_MOST ? lines : PANE_MOST;
}

static void facts_draw(const struct ui *ui, const struct snap_site *site, int y)
{
	struct infoline s = INFOLINE_INIT;
	char text[COLUMN_TEXT_MAX], a[UNITS_MAX], b[UNITS_MAX];
	struct row_style style = ui_style(ui);

	if (style.names == NAMES_SHORT)
		style.names = NAMES_FULL;
	site_name(site, &style, text, sizeof(text));
	infoline_left(&s, 90, STYLE_BOLD, "%s", text);
	infoline_elastic(&s, 20);
	infoline_right(&s, 80, STYLE_PLAIN, "live %s in %s", units_bytes(a, site->live_bytes),
		units_count(b, site->live_blocks));
	if (!site->of_thread)
		infoline_right(&s, 60, STYLE_PLAIN, "allocated %s in %s",
			units_bytes(a, site->alloc_bytes), units_count(b, site->allocs));
	infoline_right(&s, 50, STYLE_DIM, "by %s", site->alloc_function);
	infoline_draw(&s, y, 1, (unsigned)ui->layout.width - 2);
}

/* In full where it fits: a short name leaves out the arguments of templates, not its end. */
static void name_text(
	const struct ui *ui, const struct frame *f, unsigned cells, char *out, size_t cap)
{
	bool ascii = draw_is_ascii();

	frame_name(f, ui->names == NAMES_SHORT ? NAMES_FULL : ui->names, 0, ascii, out, cap);
	if (text_cells(out) > cells || strlen(out) + 1 == cap)
		frame_name(f, ui->names, cells, ascii, out, cap);
}

/* One frame: its number, function and place, in so many cells. */
static void frame_draw(
	const struct ui *ui, const struct stack *stack, uint32_t i, int y, int x, unsigned cells)
{
	const struct frame *f = snapshot_frame(stack, i);
	unsigned place = cells / 3 < PLACE_CELLS ? cells / 3 : PLACE_CELLS;
	enum draw_style style = i == stack->title ? STYLE_BOLD
				: f->hidden	  ? STYLE_DIM
						  : STYLE_PLAIN;
	char text[COLUMN_TEXT_MAX];

	snprintf(text, sizeof(text), "%3" PRIu32 " %s", i,
		i == stack->title ? draw_glyph(GLYPH_HERE) : "");
	draw_text(y, x, NUMBER_CELLS, style, text);
	name_text(ui, f, cells - NUMBER_CELLS - place - 2, text, sizeof(text));
	draw_text(y, x + NUMBER_CELLS + 1, cells - NUMBER_CELLS - place - 2, style, text);
	frame_place(f, place, draw_is_ascii(), text, sizeof(text));
	draw_text(y, x + (int)(cells - place), place, STYLE_DIM, text);
}

/* Places are near the names, not at the other edge of a wide screen. */
static unsigned cells_used(const struct ui *ui, const struct stack *stack, unsigned cells)
{
	unsigned room = cells - 2 - NUMBER_CELLS - PLACE_CELLS - 2, longest = NAME_LEAST;
	char text[COLUMN_TEXT_MAX];

	if (cells < FRAMES_WIDE)
		return cells;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		name_text(ui, snapshot_frame(stack, i), room, text, sizeof(text));
		if (text_cells(text) > longest)
			longest = (unsigned)text_cells(text);
	}
	return longest + (cells - room);
}

static void stack_draw(const struct ui *ui, const struct stack *stack, int y, unsigned lines)
{
	unsigned width = (unsigned)ui->layout.width;
	unsigned columns = width >= FRAMES_WIDE && stack->nframes > lines ? 2 : 1;
	unsigned cells = (width - 1) / columns, room = lines * columns;
	char text[64];

	if (columns == 1)
		cells = cells_used(ui, stack, cells);
	for (unsigned n = 0; n < stack->nframes && n < room; n++) {
		int line = y + (int)(n % lines), x = 1 + (int)(n / lines * cells);

		if (n + 1 == room && stack->nframes > room) {
			snprintf(text, sizeof(text), "%s %" PRIu32 " further frames (Enter)",
				draw_glyph(GLYPH_ELLIPSIS), stack->nframes - n);
			draw_text(line, x, cells - 2, STYLE_DIM, text);
		} else {
			frame_draw(ui, stack, n, line, x, cells - 2);
		}
	}
}

void site_pane_draw(const struct ui *ui, const struct snap_site *site, int y)
{
	draw_rule(y, 0, (unsigned)ui->layout.width, "SELECTED");
	if (!site)
		return;
	if (site->group) {
		draw_text(y + 1, 1, (unsigned)ui->layout.width - 2, STYLE_DIM,
			"several call sites in one row: Enter shows them");
		return;
	}
	facts_draw(ui, site, y + 1);
	stack_draw(ui, site->stack, y + 2, (unsigned)site_pane_lines(ui) - 2);
}
