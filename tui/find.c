/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Find and filter (find.h). A view decides which of its lines match; the search is the same for all
 * views. Called by the key table, screen.c and views, on the main thread.
 */
#include "tui/find.h"

#include <errno.h>
#include <stdlib.h>
#include "tui/curses_api.h"
#include "tui/refresh.h"

#define EXPRESSIONS "word  !word  /regex/  live>1M  rate>0  age>60s  module:libssl  thread:worker"

/* ---- find --------------------------------------------------------------------------------- */

/* Where the search starts: at the cursor or, in a view without one, at the line found last. */
static size_t find_from(struct ui *ui)
{
	const struct list *l = ui_view(ui)->list(ui);

	if (l->scroll_only && ui->found >= l->top && ui->found < l->top + l->height)
		return ui->found;
	return l->scroll_only ? l->top : l->cursor;
}

static void find_show(struct ui *ui, size_t row)
{
	struct list *l = ui_view(ui)->list(ui);

	ui->found = row;
	list_to(l, row);
	if (ui_view(ui)->moved)
		ui_view(ui)->moved(ui);
}

/* Shows the next matching line from `from` on, wrapping around once. False: there is none. */
static bool find_step(struct ui *ui, size_t from, int step, bool itself)
{
	const struct view *v = ui_view(ui);
	size_t count = v->list(ui)->count;

	for (size_t i = itself ? 0 : 1; i <= count && count; i++) {
		size_t row = (step < 0 ? from + 2 * count - i : from + i) % count;

		if (!v->matches(ui, ui->find, row))
			continue;
		if (step < 0 ? row > from : row < from)
			ui_message(
				ui, "search continued from the %s", step < 0 ? "end" : "beginning");
		else if (!itself && row == from)
			ui_message(ui, "no other match");
		find_show(ui, row);
		return true;
	}
	return v->reveal && v->reveal(ui, ui->find);
}

static void find_go(struct ui *ui, int step, bool itself)
{
	if (!ui_view(ui)->matches)
		ui_message(ui, "nothing to search here");
	else if (!find_step(ui, find_from(ui), step, itself))
		ui_message(ui, "not found: %s%s", filter_text(ui->find),
			ui->filter ? " (a filter is on)" : "");
}

static void find_accept(struct ui *ui, const char *text)
{
	char why[FILTER_WHY_MAX];
	struct filter *find;

	if (!*text) { /* as in editors: repeats the last search */
		find_again(ui, 1, 0);
		return;
	}
	find = filter_parse(text, why);
	if (!find) {
		ui_message(ui, "find: %s", why);
		return;
	}
	filter_free(ui->find);
	ui->find = find;
	ui->found = SIZE_MAX;
	find_go(ui, 1, true);
}

void find_ask(struct ui *ui, int arg, int key)
{
	prompt_open(&ui->prompt, "find:", "", find_accept);
	ui->prompt.again = KEY_F(3);
	if (ui_view(ui)->scope & IN_LISTS)
		ui->prompt.hint = EXPRESSIONS;
}

void find_again(struct ui *ui, int step, int key)
{
	if (ui->find)
		find_go(ui, step, false);
	else
		ui_message(ui, "no search yet: / starts one");
}

bool find_is_match(const struct ui *ui, const char *text)
{
	return ui->find && filter_match_text(ui->find, text);
}

/* ---- filter ------------------------------------------------------------------------------- */

int find_filter_set(struct ui *ui, const char *text)
{
	struct filter *filter = NULL;
	char why[FILTER_WHY_MAX];

	if (text && *text && !(filter = filter_parse(text, why))) {
		ui_message(ui, "filter: %s", why);
		return -EINVAL;
	}
	filter_free(ui->filter);
	ui->filter = filter;
	return 0;
}

static void find_filter_accept(struct ui *ui, const char *text)
{
	if (find_filter_set(ui, text) != 0)
		return;
	refresh_views(ui);
	if (!ui->filter)
		ui_message(ui, "no filter: all call sites are shown");
}

void find_filter_ask(struct ui *ui, int arg, int key)
{
	prompt_open(&ui->prompt, "show only:", ui->filter ? filter_text(ui->filter) : "",
		find_filter_accept);
	ui->prompt.again = KEY_F(4);
	ui->prompt.hint = EXPRESSIONS;
}

bool find_has_filter(const struct ui *ui)
{
	return ui->filter != NULL;
}

void find_free(struct ui *ui)
{
	filter_free(ui->find);
	filter_free(ui->filter);
	free(ui->matching_sites);
}
