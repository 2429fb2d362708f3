/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New data on the screen (refresh.h): a snapshot from the source, what another image of the program
 * changes, and the views' updates. Called by loop.c and script.c at each tick, by screen.c and by
 * keys; never waits.
 */
#include "tui/refresh.h"

#include "src/model/growth.h"
#include "tui/shown_moment.h"
#include "tui/process_selection.h"
#include "tui/rows.h"

void refresh_views(struct ui *ui)
{
	const struct view *sites = view_table[VIEW_SITES];

	rows_update(ui);
	/* The site detail steps through the table, so the table is kept in order behind it. */
	sites->update(ui);
	if (ui_view(ui) != sites)
		ui_view(ui)->update(ui);
}

void refresh_anew(struct ui *ui)
{
	struct list *list = ui_view(ui)->list ? ui_view(ui)->list(ui) : NULL;

	if (list)
		list_rise(list);
	refresh_views(ui);
	if (list)
		list_select(list, list->cursor); /* it keeps this line from now on */
}

/* Site ids belong to one image of the program: a selection means nothing in the next one. */
static void image_changed(struct ui *ui)
{
	bool other = ui->processes.chosen || ui->shown->pid != ui->current->pid;

	if (other)
		process_selection_save(ui, ui->shown);
	ui_remove(ui, IN_DETAIL | IN_EVENTS | IN_WHY);
	for (int id = 0; id < VIEW_COUNT; id++)
		if (view_table[id]->reset)
			view_table[id]->reset(ui);
	shown_moment_reset(ui);
	ui->trail.count = 0;
	if (other)
		process_selection_restore(ui, ui->current);
	else
		ui_message(ui, "the program called exec: its call sites start from zero");
}

/* The columns since a mark are gone, so the table cannot stay sorted by one of them. */
static void marks_ended(struct ui *ui)
{
	if (ui->sort != COL_SINCE && ui->sort != COL_SINCE_BLOCKS && ui->sort != COL_KEPT &&
		ui->sort != COL_SINCE_ALLOC && ui->sort != COL_SINCE_FREED)
		return;
	ui->sort = ui->moments.sorted ? ui->moments.sort : COL_LIVE;
	ui->reverse = false;
}

static void show_current(struct ui *ui)
{
	bool marked = ui_counts_since(ui);

	if (ui->shown && ui->shown->owner != ui->current->owner)
		image_changed(ui);
	snapshot_unref(ui->shown);
	ui->shown = ui->current;
	ui->moments.summed = NULL;
	shown_moment_adopt(ui);
	if (ui->shown)
		snapshot_ref(ui->shown);
	if (marked && !ui_counts_since(ui))
		marks_ended(ui);
	refresh_views(ui);
}

/* Ages take time to collect, so they are requested only if they are shown. */
static bool wants_ages(const struct ui *ui)
{
	return ui->sort == COL_AGE || ui->set == COLUMNS_LEAKS ||
	       !(ui->columns_off >> COL_AGE & 1) ||
	       (ui_view(ui)->wants_ages && ui_view(ui)->wants_ages(ui)) ||
	       (ui->filter && filter_wants_ages(ui->filter));
}

static bool wants_threads(const struct ui *ui)
{
	return ui->group.by == GROUP_THREAD || ui_view(ui) == view_table[VIEW_THREADS] ||
	       (ui->filter && filter_wants_threads(ui->filter));
}

bool refresh_is_due(const struct ui *ui)
{
	return !ui->frozen &&
	       ((wants_ages(ui) && !ui->had_ages) || (wants_threads(ui) && !ui->had_threads));
}

/* A new snapshot; what the header and, unless they are frozen, the rows show. */
static void take(struct ui *ui, struct snapshot *s)
{
	if (!s)
		return;
	s = kinds_take(ignored_take(ui->ignored, s), ui->kinds);
	snapshot_unref(ui->current);
	ui->current = s;
	ui->growing = growth_rank(s, NULL, 0);
	if (ui->frozen)
		ui->waiting++;
	else
		show_current(ui);
	for (int id = 0; id < VIEW_COUNT; id++)
		if (view_table[id]->refreshed)
			view_table[id]->refreshed(ui);
}

void refresh_now(struct ui *ui)
{
	const char *error = NULL;
	struct snapshot *s;

	ui->had_ages = wants_ages(ui);
	ui->had_threads = wants_threads(ui);
	if (ui->source->ages)
		ui->source->ages(ui->source->ctx, ui->had_ages);
	if (ui->source->shares)
		ui->source->shares(ui->source->ctx, ui->had_threads);
	s = ui->source->tick(ui->source->ctx, &error);
	ui->error = error;
	take(ui, s);
}

void refresh_moment(struct ui *ui)
{
	if (ui->source->moment_take)
		take(ui, ui->source->moment_take(ui->source->ctx));
	else
		refresh_now(ui);
}

void refresh_kinds(struct ui *ui)
{
	struct snapshot *heap = ui->current->kinds ? ui->current->base : ui->current;

	if (ui->frozen)
		refresh_freeze(ui, false);
	snapshot_ref(heap);
	take(ui, heap);
}

bool refresh_show_site(struct ui *ui, uint32_t id)
{
	if (!ui_site(ui, id) && ui_any_site(ui, id)) {
		ui->kinds = KINDS_BOTH;
		refresh_kinds(ui);
		ui_message(ui, "the heap and mapped memory are shown now (M)");
	}
	return ui_site(ui, id) != NULL;
}

void refresh_tick(struct ui *ui)
{
	ui->ticks++;
	refresh_now(ui);
}

void refresh_freeze(struct ui *ui, bool on)
{
	if (on && !ui->shown) {
		ui_message(ui, "nothing to freeze yet");
		return;
	}
	ui->frozen = on;
	ui->frozen_ns = ui_now_ns(ui);
	ui->waiting = 0;
	if (!on)
		show_current(ui);
}
