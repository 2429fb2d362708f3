/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of the site table (rows.h). Groups are made again from each snapshot; what is kept is
 * how rows are grouped and which group is open, by one of its sites.
 */
#include "tui/rows.h"

static void rows_filter(struct ui *ui)
{
	ui->rows = ui->shown;
	if (ui->shown && ui->filter &&
		filter_apply(ui->filter, ui->shown, ui->show_hidden, &ui->matching,
			&ui->matching_sites, &ui->matching_capacity) == 0)
		ui->rows = &ui->matching;
}

/* The key of the open group; 0: no group is open, or it is gone. */
static uint64_t rows_group_key(const struct ui *ui)
{
	const struct snap_site *site = ui->group.is_inside ? ui_site(ui, ui->group.inside) : NULL;

	if (ui->group.is_inside && ui->group.by == GROUP_THREAD)
		return groups_thread_key(ui->group.inside);
	/* Computed each time, since names that are resolved later change it. */
	return site ? groups_key(ui->group.by, site, ui->show_hidden) : 0;
}

static void rows_group(struct ui *ui)
{
	struct groups_request wish = { .by = ui->group.by,
		.show_hidden = ui->show_hidden,
		.filter = ui->filter,
		.inside = rows_group_key(ui) };

	ui->listed = ui->rows;
	if (!ui->shown || !rows_are_grouped(ui))
		return;
	groups_make(&ui->group.groups, ui->shown, &wish);
	ui->listed = &ui->group.groups.snap;
}

void rows_update(struct ui *ui)
{
	rows_filter(ui);
	rows_group(ui);
}

uint32_t rows_find(const struct ui *ui, uint32_t id)
{
	const struct snap_site *site = ui_site(ui, id);
	uint64_t key;

	if (!site || !rows_are_grouped(ui) || ui->group.is_inside || ui->group.by == GROUP_THREAD)
		return id;
	key = groups_key(ui->group.by, site, ui->show_hidden);
	for (size_t i = 0; i < ui->listed->nsites; i++)
		if (ui->listed->sites[i].group->key == key)
			return ui->listed->sites[i].id;
	return id;
}

bool rows_are_grouped(const struct ui *ui)
{
	return ui->group.by != GROUP_STACK;
}

void rows_free(struct ui *ui)
{
	groups_free(&ui->group.groups);
}
