/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Grouping of the site table (group.h); rows.c makes the groups. Called by the key table and
 * screen.c, on the main thread.
 */
#include "tui/group.h"

#include <stdio.h>
#include "src/model/site_type.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/key_codes.h"
#include "tui/refresh.h"
#include "tui/rows.h"

#define CHOICES "by:  s stack  c caller  f function  l file  m module  y type  t thread   g top"

const char *group_choices(void)
{
	return CHOICES;
}

void group_ask(struct ui *ui, int arg, int key)
{
	ui->pending = 'g';
}

void group_set(struct ui *ui, enum group_by by)
{
	ui->group.by = by;
	ui->group.is_inside = false;
	/* The rows whose order was held are gone. */
	ui->sites.drawn = 0;
	refresh_views(ui);
}

bool group_choose(struct ui *ui, int key)
{
	if (key == 'g') {
		ui_move(ui, LIST_HOME);
		return true;
	}
	for (int by = 0; by < GROUP_COUNT; by++) {
		if (group_table[by].letter != key)
			continue;
		group_set(ui, (enum group_by)by);
		if (by == GROUP_STACK)
			ui_message(ui, "each row is one call site");
		else if (by == GROUP_TYPE && !(ui->shown && ui->shown->typed.known))
			ui_message(ui, "types are known after a leak scan (L)");
		else if (by == GROUP_THREAD)
			ui_message(ui, "each row is one thread; Enter shows where it allocated");
		else
			ui_message(ui, "%zu %s; Enter shows the call sites of a row",
				ui->listed ? ui->listed->nsites : 0, group_table[by].many);
		return true;
	}
	return key == KEY_ESC;
}

bool group_enter(struct ui *ui)
{
	if (!rows_are_grouped(ui) || ui->group.is_inside || !ui->sites.has_selected)
		return false;
	ui->group.inside = ui->sites.selected;
	ui->group.is_inside = true;
	ui->sites.drawn = 0;
	ui->sites.list.moved = false;
	refresh_views(ui);
	ui_message(ui, "the call sites of one row; Esc returns to the %s",
		group_table[ui->group.by].many);
	return true;
}

bool group_leave(struct ui *ui)
{
	if (!ui->group.is_inside || ui_view(ui) != view_table[VIEW_SITES])
		return false;
	ui->group.is_inside = false;
	ui->sites.drawn = 0;
	ui->sites.selected = ui->sites.chosen = ui->group.inside;
	ui->sites.has_selected = ui->sites.has_chosen = ui->sites.list.moved = true;
	refresh_views(ui);
	return true;
}

/* The name of the open group, as in its row. */
static void group_inside_name(const struct ui *ui, unsigned cells, char *out, size_t cap)
{
	const struct snap_site *site = ui_site(ui, ui->group.inside);
	struct snap_group group = { .by = ui->group.by };
	struct row_style style = ui_style(ui);
	struct snap_site named;

	snprintf(out, cap, "?");
	if (ui->group.by == GROUP_THREAD)
		snapshot_thread_name(groups_thread(ui->shown, ui->group.inside), out, cap);
	if (!site)
		return;
	named = *site;
	named.group = &group;
	style.site_cells = cells;
	site_name(&named, &style, out, cap);
}

void group_facts(const struct ui *ui, struct infoline *s)
{
	char name[COLUMN_TEXT_MAX];

	if (!rows_are_grouped(ui))
		return;
	if (!ui->group.is_inside && ui->group.by == GROUP_TYPE) {
		*name = 0;
		if (ui->shown)
			site_type_share(&ui->shown->typed, name);
		infoline_right(s, 86, STYLE_BOLD, "by type (g)%s%s", *name ? ", " : "", name);
		return;
	}
	if (!ui->group.is_inside) {
		infoline_right(s, 86, STYLE_BOLD, "by %s (g)", group_table[ui->group.by].key);
		return;
	}
	group_inside_name(ui, 24, name, sizeof(name));
	infoline_right(s, 86, STYLE_WARN, "in %s (Esc)", name);
}
