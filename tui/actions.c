/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The actions of the key table (keys.c) and of the mouse (screen.c). An action reports what it did,
 * unless the effect is visible at once. Main thread.
 */
#include "tui/actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/util/text.h"
#include "tui/curses_api.h"
#include "tui/detach.h"
#include "tui/find.h"
#include "tui/group.h"
#include "tui/moments.h"
#include "tui/refresh.h"
#include "tui/view_detail.h"
#include "tui/leak_list.h"
#include "tui/detail_source.h"
#include "tui/rows.h"
#include "tui/trail.h"
#include "tui/view_leaks.h"
#include "tui/view_map.h"
#include "tui/view_sites.h"
#include "tui/view_tree.h"

/* The same limits as for --delay. */
#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 60000000000ull

/* Home and End belong to the timeline while its cursor is what moved last. */
void action_move(struct ui *ui, int motion, int key)
{
	if (ui->moments.was_active && (key == KEY_HOME || key == KEY_END)) {
		moments_edge(ui, key == KEY_HOME);
		return;
	}
	ui_move(ui, (enum list_motion)motion);
}

void action_move_pair(struct ui *ui, int motion, int key)
{
	if (key == 'g' && ui->pending != 'g') {
		ui->pending = 'g';
		return;
	}
	ui->pending = 0;
	action_move(ui, motion, key);
}

static unsigned *action_shift_of(struct ui *ui)
{
	if (ui_view(ui) == view_table[VIEW_DETAIL])
		return &ui->detail.shift;
	return ui_view(ui) == view_table[VIEW_OUTPUT] ? &ui->output.shift : &ui->sites.shift;
}

void action_shift(struct ui *ui, int cells, int key)
{
	unsigned *shift = action_shift_of(ui);
	bool first = *shift == 0 && (ui_view(ui) != view_table[VIEW_SITES] || !ui->sites.scroll);

	if (cells < 0 && first && key == 'h')
		ui_message(ui, "nothing further left (? is help)");
	else if (ui_view(ui) == view_table[VIEW_SITES])
		view_sites_scroll(ui, cells);
	else if (cells <= 0) /* 0: back to the beginning */
		*shift = cells && *shift > (unsigned)-cells ? *shift - (unsigned)-cells : 0;
	else if (*shift < 4096)
		*shift += (unsigned)cells;
}

/* Sorts a table other than Sites. */
static void action_table_sort(struct ui *ui, int column)
{
	const struct table *t = ui_view(ui)->table(ui);
	struct table_order *o = ui_view(ui)->order(ui);
	int replaced;

	if (column < 0 || column >= (int)t->count) {
		ui_message(ui, "this table has %u columns", t->count);
		return;
	}
	o->reverse = (unsigned)column == o->sort ? !o->reverse : false;
	o->sort = (unsigned)column;
	o->just_chosen = true;
	refresh_views(ui);
	replaced = table_replaced(t, o, ui->layout.width);
	if (replaced >= 0)
		ui_message(ui, "sorted by %s, which replaces %s on this narrow screen",
			t->column[o->sort].title, t->column[replaced].title);
}

/* Sorts by the next column to the left or right, shown or not. */
static void action_table_step(struct ui *ui, int step)
{
	const struct table *t = ui_view(ui)->table(ui);
	int n = (int)t->count, at = 0;

	while (at < n && (t->shown ? t->shown[at] : at) != (int)ui_view(ui)->order(ui)->sort)
		at++;
	for (at += step; at >= 0 && at < n; at += step) {
		int column = t->shown ? t->shown[at] : at;

		if (t->column[column].width < TABLE_NEVER &&
			!(t->column[column].cells && *t->off >> column & 1)) {
			action_table_sort(ui, column);
			return;
		}
	}
	ui_message(ui, "no column further %s", step < 0 ? "left" : "right");
}

void action_sort_click(struct ui *ui, int x)
{
	const struct view *v = ui_view(ui);
	int column =
		v->table ? table_column_at(v->table(ui), v->order(ui), ui->layout.width, x) : -1;

	if (column >= 0)
		action_table_sort(ui, column);
	else if (v == view_table[VIEW_SITES])
		view_sites_click_head(ui, x);
}

void action_sort_digit(struct ui *ui, int arg, int key)
{
	int column = layout_digit_column(key);

	if (ui_view(ui)->table)
		action_table_sort(ui, key - '1');
	else if (column >= 0)
		view_sites_sort(ui, (enum column)column);
}

void action_sort_step(struct ui *ui, int step, int key)
{
	int column = ui_view(ui)->table ? -1 : layout_next(ui_kind(ui), step);

	if (ui_view(ui)->table)
		action_table_step(ui, step);
	else if (column < 0)
		ui_message(ui, "no column further %s", step < 0 ? "left" : "right");
	else
		view_sites_sort(ui, (enum column)column);
}

void action_columns(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == view_table[VIEW_TREE]) {
		view_tree_value(ui);
		return;
	}
	ui->set = (enum column_set)((ui->set + 1) % COLUMNS_SETS);
	ui->sites.scroll = 0;
	ui->sort = column_sets[ui->set].sort;
	ui->reverse = false;
	ui->sites.drawn = 0;
	refresh_anew(ui);
	ui_message(ui, "columns for %s, sorted by %s (c: the next set)", column_sets[ui->set].key,
		column_table[ui->sort].title);
}

void action_reverse(struct ui *ui, int arg, int key)
{
	if (ui_view(ui)->table)
		action_table_sort(ui, (int)ui_view(ui)->order(ui)->sort);
	else
		view_sites_sort(ui, ui->sort);
}

void action_freeze(struct ui *ui, int arg, int key)
{
	if (!moments_leave(ui))
		refresh_freeze(ui, !ui->frozen);
}

void action_hold(struct ui *ui, int arg, int key)
{
	ui->hold = !ui->hold;
	refresh_views(ui);
	ui_message(ui,
		ui->hold ? "order held: rows keep their places, values keep updating (o releases)"
			 : "order released");
}

void action_names(struct ui *ui, int arg, int key)
{
	static const char *const said[NAMES_COUNT] = {
		"short names",
		"full names (arrows scroll them)",
		"mangled names (arrows scroll them)",
		"addresses: module+offset",
	};

	ui->names = (enum name_style)((ui->names + 1) % NAMES_COUNT);
	ui_message(ui, "%s", said[ui->names]);
}

void action_hidden(struct ui *ui, int arg, int key)
{
	ui->show_hidden = !ui->show_hidden;
	refresh_views(ui);
	ui_message(ui, "%s",
		ui->show_hidden ? "sites are named after their innermost frame"
				: "sites are named after the first frame that no rule hides (? "
				  "lists them)");
}

bool action_has_kinds(const struct ui *ui)
{
	return ui->current && kinds_next(ui->current, ui->current->kinds) != ui->current->kinds;
}

void action_kinds(struct ui *ui, int arg, int key)
{
	static const char *const said[KINDS_COUNT] = {
		[KINDS_HEAP] = "the heap: blocks of the program's allocator",
		[KINDS_MAPPED] =
			"mapped memory: what the program took by mmap, brk and shmat itself",
		[KINDS_BOTH] = "the heap and mapped memory",
		[KINDS_POOL] = "pools: blocks that the program reports, which lie in other blocks",
	};

	if (!action_has_kinds(ui)) {
		ui_message(ui, "%s",
			ui_moment(ui) == SNAP_NOW || ui->current->totals.has_mapped
				? "the program has mapped no memory itself"
				: "mapped memory is not recorded for this moment");
		return;
	}
	ui->kinds = kinds_next(ui->current, ui->current->kinds);
	refresh_kinds(ui);
	refresh_anew(ui); /* the largest may be of the kind that came */
	ui_message(ui, "%s", said[ui->kinds]);
}

void action_header(struct ui *ui, int arg, int key)
{
	ui->header_off = !ui->header_off;
}

/* The site that the view in front is about, or where its cursor stands; 0: none. */
static uint32_t site_here(const struct ui *ui)
{
	const struct leaks_row *row;

	switch (ui_view(ui)->scope) {
	case IN_DETAIL:
	case IN_EVENTS:
		return ui->detail.site;
	case IN_LEAKS:
	case IN_WHY:
		row = leak_list_selected(ui);
		return row && row->site ? row->site->id : 0;
	case IN_SITES: /* until the cursor is moved, it stands on no site of one's choice */
		return rows_are_grouped(ui) && !ui->group.is_inside	? 0
		       : ui->sites.list.moved && ui->sites.has_selected ? ui->sites.selected
									: 0;
	case IN_SIZES:
		return ui->sites.list.moved && ui->sites.has_selected ? ui->sites.selected : 0;
	case IN_MAP:
		return view_map_site(ui);
	default:
		return 0;
	}
}

/* In the detail of the site that a leak's row is of. */
void action_site(struct ui *ui, int arg, int key)
{
	uint32_t site = site_here(ui);

	if (!site) {
		ui_message(ui, "this row has no call site");
		return;
	}
	if (!ui_can_push(ui, VIEW_DETAIL))
		return; /* one below may show another site */
	ui->detail.site = site;
	ui_push(ui, VIEW_DETAIL);
}

void action_edit(struct ui *ui, int arg, int key)
{
	const struct snap_site *site = ui_site(ui, site_here(ui));

	if (ui_view(ui) == view_table[VIEW_DETAIL]) {
		detail_source_edit(ui);
		return;
	}
	if (ui_view(ui) == view_table[VIEW_SITES] && ui->sites.has_selected)
		site = ui_site(ui, ui->sites.selected);
	if (ui_view(ui) == view_table[VIEW_TREE])
		view_tree_edit(ui);
	else if (site)
		detail_source_edit_frame(ui, site->stack,
			snapshot_frame(site->stack, site->stack->title < site->stack->nframes
							    ? site->stack->title
							    : 0));
	else
		ui_message(ui, "no frame is selected");
}

void action_detail(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) != view_table[VIEW_SITES] || !group_enter(ui))
		view_detail_show(ui);
}

/* The table's cursor may be on another site: a cursor that was never moved stays on row 0, and
 * Leaks opens the detail without moving it. */
void action_neighbour(struct ui *ui, int step, int key)
{
	size_t before;

	if (ui->group.by != GROUP_STACK && !ui->group.is_inside) {
		ui_message(ui, "the rows of Sites are groups: there is no next site");
		return;
	}
	view_sites_select(ui, ui->detail.site);
	before = ui->sites.list.cursor;
	list_go(&ui->sites.list, step < 0 ? LIST_UP : LIST_DOWN);
	view_table[VIEW_SITES]->moved(ui);
	if (ui->sites.list.cursor == before) {
		ui_message(ui, "this is the %s site", step < 0 ? "first" : "last");
		return;
	}
	ui->detail.site = ui->sites.selected;
	view_table[VIEW_DETAIL]->open(ui);
	view_table[VIEW_DETAIL]->update(ui);
}

/* The index of the selected site among the growing ones if these keys led to it, or -1. */
static long grower_at(const struct ui *ui, const uint32_t *index, size_t n)
{
	for (size_t i = 0; ui->sites.has_selected && i < n; i++) {
		uint32_t id = ui->listed->sites[index[i]].id;

		if (id == ui->sites.selected && id == ui->grower)
			return (long)i;
	}
	return -1;
}

static void grower_show(struct ui *ui, size_t at, size_t of, const struct snap_site *site)
{
	char rate[UNITS_MAX], over[UNITS_MAX], evidence[GROWTH_EVIDENCE_MAX], text[UI_MESSAGE_MAX];

	view_sites_select(ui, site->id);
	ui->grower = site->id;
	if (ui_view(ui) == view_table[VIEW_DETAIL])
		ui->detail.site = site->id;
	if (ui_view(ui) != view_table[VIEW_SITES] && ui_view(ui)->open)
		ui_view(ui)->open(ui);
	ui_view(ui)->update(ui);
	snprintf(text, sizeof(text), "growing site %zu of %zu: %s over %s, %s: %s", at + 1, of,
		units_rate(rate, site->growth.bytes_per_s),
		units_duration(over, site->growth.over_ns), growth_word_text(&site->growth),
		growth_evidence(&site->growth, evidence));
	/* The rest of the evidence is in the site's detail. */
	for (char *end; ui->layout.width < (int)text_cells(text) + 2 && (end = strrchr(text, ';'));)
		*end = '\0';
	ui_message(ui, "%s", text);
}

void action_grower(struct ui *ui, int step, int key)
{
	uint32_t *index = ui->listed ? malloc(ui->listed->nsites * sizeof(*index) + 1) : NULL;
	size_t n = index ? growth_rank(ui->listed, index, ui->listed->nsites) : 0;
	long at = index ? grower_at(ui, index, n) : -1;

	/* The first goes to the worst, wherever the cursor is. */
	at = at < 0 ? 0 : at + step;
	if (n == 0)
		ui_message(ui, "no site is growing%s (? explains GROWS)",
			ui->shown && snapshot_is_young(ui->shown)
				? " yet: that takes ten seconds to see"
				: "");
	else if (at < 0 || at >= (long)n)
		ui_message(ui, "this is the %s growing site", step < 0 ? "first" : "last");
	else
		grower_show(ui, (size_t)at, n, &ui->listed->sites[index[at]]);
	free(index);
}

void action_tab(struct ui *ui, int step, int key)
{
	int id = (int)ui->stack[0];

	trail_end(ui);
	ui_tab(ui, (enum view_id)((id + step + VIEW_TABS) % VIEW_TABS));
}

void action_tree(struct ui *ui, int arg, int key)
{
	uint32_t site = site_here(ui);

	if (ui_view(ui) == view_table[VIEW_TREE]) {
		if (!trail_back(ui))
			ui_tab(ui, VIEW_SITES);
		return;
	}
	trail_leave(ui, VIEW_TREE, 1);
	ui_tab(ui, VIEW_TREE);
	if (site)
		view_tree_show_site(ui, site);
}

bool action_can_save(const struct ui *ui)
{
	return ui->listed && ui->source->save;
}

static void save_as(struct ui *ui, const char *format)
{
	char text[UI_MESSAGE_MAX] = "";

	struct tui_shown shown = { .rows = ui->listed,
		.group = ui->group.is_inside ? GROUP_STACK : ui->group.by,
		.filter = ui->filter ? filter_text(ui->filter) : NULL,
		.sort = ui->sort,
		.reverse = ui->reverse,
		.names = ui->names,
		.show_hidden = ui->show_hidden,
		.whole = ui->shown && ui->shown->kinds ? ui->shown->base : ui->shown,
		.memory = ui->map.map ? &ui->map.map->account : NULL,
		.format = format };

	if (!action_can_save(ui)) {
		ui_message(ui, "nothing to export yet");
		return;
	}
	shown.sites = ui->shown->nsites;
	ui->source->save(ui->source->ctx, &shown, text, sizeof(text));
	ui_message(ui, "%s", text);
}

static void save_accept(struct ui *ui, const char *text)
{
	save_as(ui, *text ? text : ui->source->save_formats[0]);
}

/* Without commas all of them fit in 80 columns. */
static const char *save_hint(const char *const *formats)
{
	static char hint[160];
	size_t used = 0;

	for (size_t i = 0; formats[i] && used < sizeof(hint); i++)
		used += (size_t)snprintf(
			hint + used, sizeof(hint) - used, "%s%s", i ? " " : "", formats[i]);
	return hint;
}

void action_save(struct ui *ui, int arg, int key)
{
	const char *const *formats = ui->source->save_formats;

	if (!formats || !action_can_save(ui)) {
		save_as(ui, NULL);
		return;
	}
	prompt_open(&ui->prompt, "export as (Enter: text):", "", save_accept);
	ui->prompt.hint = save_hint(formats);
}

static void delay_accept(struct ui *ui, const char *text)
{
	char said[UNITS_MAX];
	uint64_t ns;

	if (!*text)
		return;
	if (units_parse_duration(text, &ns) || ns < DELAY_MIN_NS || ns > DELAY_MAX_NS) {
		ui_message(ui, "delay: \"%s\" is not a time from 0.1 to 60 s (such as 2 or 500ms)",
			text);
		return;
	}
	ui->options.delay_ns = ns;
	ui->delay_changed = true;
	ui_message(ui, "refreshing every %s", units_duration(said, ns));
}

void action_delay(struct ui *ui, int arg, int key)
{
	prompt_open(&ui->prompt, "delay, 0.1 to 60 s:", "", delay_accept);
}

bool action_can_sample(const struct ui *ui)
{
	return ui->source->sample && ui_program_runs(ui);
}

static void sample_accept(struct ui *ui, const char *text)
{
	char said[UI_MESSAGE_MAX] = "";

	if (!*text)
		return;
	ui->source->sample(ui->source->ctx, text, said, sizeof(said));
	ui_message(ui, "%s", said);
}

void action_sample(struct ui *ui, int arg, int key)
{
	if (!action_can_sample(ui))
		ui_message(ui, "the recording cannot be changed: no program is running");
	else
		prompt_open(&ui->prompt,
			"record exact, auto, a limit (5%), or an interval (512K):", "",
			sample_accept);
}

void action_help(struct ui *ui, int arg, int key)
{
	if (ui_view(ui) == view_table[VIEW_HELP])
		ui_pop(ui);
	else
		ui_push(ui, VIEW_HELP);
}

void action_repaint(struct ui *ui, int arg, int key)
{
	ui->repaint = true;
}

void action_suspend(struct ui *ui, int arg, int key)
{
	ui->suspend = true;
}

void action_back(struct ui *ui, int may_quit, int key)
{
	if (!may_quit && view_leaks_cancel(ui))
		return;
	if (!may_quit && (trail_filter_back(ui) || trail_back(ui)))
		return;
	if (ui_pop(ui) || group_leave(ui))
		return;
	if (!may_quit && moments_leave(ui))
		return;
	if (!may_quit && ui->filter) {
		find_filter_set(ui, NULL);
		refresh_views(ui);
		ui_message(ui, "filter cleared: all call sites are shown");
	} else if (!may_quit) {
		ui_message(ui, "nothing to go back to; q quits");
	} else if (view_leaks_can_release(ui)) {
		view_leaks_release(ui, 0, 0);
		ui->quit = true;
	} else if (ui->options.launched && ui_program_runs(ui) && !ui->leaving) {
		ui_message(ui, "the program still runs: q leaves it running, %sother keys cancel",
			ui->options.readonly ? "" : "t ends it, ");
		ui->leaving = true;
	} else if (!detach_asks(ui)) {
		ui->quit = true;
	}
}

void action_quit(struct ui *ui, int arg, int key)
{
	ui->quit = true;
}

bool action_is_frozen(const struct ui *ui)
{
	return ui->frozen;
}

bool action_can_freeze(const struct ui *ui)
{
	return ui_moment(ui) == SNAP_NOW && (ui->frozen || ui_program_runs(ui));
}

bool action_is_tree(const struct ui *ui)
{
	return ui->stack[0] == VIEW_TREE;
}

bool action_is_processes(const struct ui *ui)
{
	return ui_view(ui) == view_table[VIEW_PROCESSES];
}

bool action_is_held(const struct ui *ui)
{
	return ui->hold;
}

bool action_is_hidden_shown(const struct ui *ui)
{
	return ui->show_hidden;
}
