/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that is known about one row of Leaks, line by line (leak_explanation.h). Main thread. */
#include "tui/view_why.h"

#include <stdio.h>
#include <stdlib.h>
#include "src/model/leaks.h"
#include "src/util/text.h"
#include "src/util/units.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/leak_explanation.h"
#include "tui/leak_facts.h"
#include "tui/leak_list.h"

static struct list *why_list(struct ui *ui)
{
	return &ui->leaks.explanation_list;
}

static void why_update(struct ui *ui)
{
	const struct leaks_row *row;

	leak_list_update(ui);
	row = leak_list_selected(ui);
	if (!ui->leaks.explanation)
		ui->leaks.explanation = malloc(sizeof(*ui->leaks.explanation));
	if (ui->leaks.explanation && row)
		leak_explanation_make(ui->leaks.explanation, (unsigned)ui->layout.width - 2, ui,
			ui->leaks.last, row);
	else if (ui->leaks.explanation)
		ui->leaks.explanation->count = 0;
	list_recount(&ui->leaks.explanation_list,
		ui->leaks.explanation ? ui->leaks.explanation->count : 0);
}

static void why_open(struct ui *ui)
{
	ui->leaks.explanation_list =
		(struct list){ .height = ui->leaks.explanation_list.height, .scroll_only = true };
	/* The selection stays on its row whatever the next scan finds. */
	ui->leaks.list.moved = true;
}

static void why_draw_head(const struct ui *ui, int y)
{
	const struct leaks_row *row = leak_list_selected(ui);
	unsigned width = (unsigned)ui->layout.width;
	struct row_style style = ui_style(ui);
	struct infoline s = INFOLINE_INIT;
	char name[INFOLINE_TEXT], text[UNITS_MAX];

	draw_fill(y, 0, width, STYLE_HEAD);
	if (!row)
		return;
	infoline_left(&s, 80, STYLE_HEAD, "%s", leak_list_kind(row));
	infoline_left(&s, 70, STYLE_HEAD, "%s", units_bytes(text, leak_list_sum(row).bytes));
	infoline_left(&s, 60, STYLE_HEAD, "in %s", units_count(text, leak_list_sum(row).blocks));
	if (row->site) {
		site_name(row->site, &style, name, sizeof(name));
		infoline_left(&s, 90, STYLE_HEAD, "%s", name);
		infoline_elastic(&s, 12);
	}
	infoline_draw(&s, y, 1, width - 2);
}

static void why_draw(struct ui *ui)
{
	const struct list *l = &ui->leaks.explanation_list;
	unsigned width = (unsigned)ui->layout.width;
	int y = ui->layout.y[ROW_BODY];
	char cut[LEAK_EXPLANATION_TEXT];

	if (ui->leaks.version != leak_list_state(ui)->version ||
		(ui->leaks.explanation && ui->leaks.explanation->cells != width - 2))
		why_update(ui);
	why_draw_head(ui, ui->layout.y[ROW_HEAD]);
	for (size_t i = 0; i < l->height && l->top + i < l->count; i++) {
		text_elide(cut, sizeof(cut), ui->leaks.explanation->line[l->top + i].text,
			width - 2, false, draw_is_ascii());
		draw_text(y + (int)i, 1, width - 2, ui->leaks.explanation->line[l->top + i].style,
			cut);
	}
	if (!l->count)
		draw_text(
			y, 2, width - 2, STYLE_DIM, "this row is no longer among the kinds shown");
}

static void why_status(struct ui *ui, char *text, size_t cap)
{
	const struct list *l = &ui->leaks.explanation_list;
	size_t end = l->top + l->height < l->count ? l->top + l->height : l->count;

	if (l->count)
		snprintf(text, cap, "lines %zu-%zu of %zu   H %s the contents of the blocks",
			l->top + 1, end, l->count, ui->leaks.contents ? "hides" : "shows");
}

static bool why_matches(const struct ui *ui, const struct filter *f, size_t row)
{
	return filter_match_text(f, ui->leaks.explanation->line[row].text);
}

const struct view view_why = {
	.title = "Why",
	.scope = IN_WHY,
	.flags = LAYOUT_COMPACT,
	.open = why_open,
	.update = why_update,
	.draw = why_draw,
	.status = why_status,
	.list = why_list,
	.matches = why_matches,
	.facts = leak_facts_add,
	.wants_ages = leak_list_wants_ages,
};
