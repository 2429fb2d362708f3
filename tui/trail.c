/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way one came (trail.h). What a place needs is copied: which views are open, the selections
 * that other keys may change, the filter and the grouping. Called by actions, on the main thread.
 */
#include "tui/trail.h"

#include <stdio.h>
#include <string.h>
#include "tui/find.h"
#include "tui/refresh.h"

static const char *filter_now(const struct ui *ui)
{
	return ui->filter ? filter_text(ui->filter) : "";
}

void trail_leave(struct ui *ui, enum view_id tab, unsigned depth)
{
	struct trail *t = &ui->trail;
	struct trail_place *p;

	if (t->count == TRAIL_PLACES)
		memmove(t->place, t->place + 1, --t->count * sizeof(t->place[0]));
	p = &t->place[t->count++];
	*p = (struct trail_place){ .tab = tab,
		.to_depth = depth,
		.depth = ui->depth,
		.sites = { ui->sites.list, ui->sites.selected, ui->sites.chosen,
			ui->sites.has_selected, ui->sites.has_chosen },
		.by = ui->group.by,
		.is_inside = ui->group.is_inside,
		.inside = ui->group.inside,
		.tree_list = ui->tree.list,
		.node = ui->tree.selected,
		.has_node = ui->tree.has_selected,
		.leaks_list = ui->leaks.list,
		.leak = ui->leaks.selected,
		.leak_nth = ui->leaks.selected_nth,
		.has_leak = ui->leaks.has_selected,
		.detail_list = ui->detail.list,
		.detail = ui->detail.site,
		.frame = ui->detail.frame,
		.on_frame = ui->detail.on_frame };
	memcpy(p->stack, ui->stack, sizeof(p->stack));
	snprintf(p->filter, sizeof(p->filter), "%s", filter_now(ui));
	trail_arrived(ui);
}

static struct trail_place *trail_last(struct ui *ui)
{
	struct trail_place *p = ui->trail.place + ui->trail.count - 1;

	return ui->trail.count && ui->stack[0] == p->tab && ui->depth == p->to_depth ? p : NULL;
}

void trail_arrived(struct ui *ui)
{
	struct trail *t = &ui->trail;

	if (t->count)
		snprintf(t->place[t->count - 1].arrived, FILTER_TEXT_MAX, "%s", filter_now(ui));
}

bool trail_filter_back(struct ui *ui)
{
	const struct trail_place *p = trail_last(ui);

	if (!p || !strcmp(p->arrived, filter_now(ui)))
		return false;
	find_filter_set(ui, p->arrived);
	refresh_views(ui);
	ui_message(ui, *p->arrived ? "the filter is as it was" : "filter cleared");
	return true;
}

static void sites_restore(struct ui *ui, const struct trail_place *p)
{
	ui->group.by = p->by;
	ui->group.is_inside = p->is_inside;
	ui->group.inside = p->inside;
	ui->sites.drawn = 0;
	find_filter_set(ui, p->filter);
	ui->sites.list = p->sites.list;
	ui->sites.selected = p->sites.selected;
	ui->sites.chosen = p->sites.chosen;
	ui->sites.has_selected = p->sites.has_selected;
	ui->sites.has_chosen = p->sites.has_chosen;
}

static void others_restore(struct ui *ui, const struct trail_place *p)
{
	ui->tree.list = p->tree_list;
	ui->tree.selected = ui->tree.chosen = p->node;
	ui->tree.has_selected = ui->tree.has_chosen = p->has_node;
	ui->tree.selected_small = ui->tree.chosen_small = false;
	ui->leaks.list = p->leaks_list;
	ui->leaks.selected = p->leak;
	ui->leaks.selected_nth = p->leak_nth;
	ui->leaks.has_selected = p->has_leak;
	ui->detail.list = p->detail_list;
	ui->detail.site = p->detail;
	ui->detail.frame = p->frame;
	ui->detail.on_frame = p->on_frame;
	ui->detail.histograms.id = ~p->detail; /* read again */
}

bool trail_back(struct ui *ui)
{
	struct trail_place p;

	if (!trail_last(ui))
		return false;
	p = *trail_last(ui);
	ui->trail.count--;
	sites_restore(ui, &p);
	others_restore(ui, &p);
	ui_return(ui, p.stack, p.depth);
	refresh_views(ui);
	return true;
}

void trail_end(struct ui *ui)
{
	ui->trail.count = 0;
}
