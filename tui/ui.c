/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ties the views together: which one is in front, which snapshot they see, what a key, a click, a
 * tick and a new size mean, and the frame that is drawn around them. Called by loop.c (and by
 * tests) on the main thread; never waits.
 */
#include "tui/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/growth.h"
#include "src/util/text.h"
#include "tui/actions.h"
#include "tui/curses_api.h"
#include "tui/find.h"
#include "tui/group.h"
#include "tui/header.h"
#include "tui/draw.h"
#include "tui/keys.h"
#include "tui/settings_sync.h"
#include "tui/views.h"

/* How long a message stays when no key comes. */
#define MESSAGE_NS 10000000000ull

const struct view *const view_table[VIEW_COUNT] = {
	[VIEW_SITES] = &view_sites,
	[VIEW_TREE] = &view_tree,
	[VIEW_SIZES] = &view_sizes,
	[VIEW_THREADS] = &view_threads,
	[VIEW_MODULES] = &view_modules,
	[VIEW_LEAKS] = &view_leaks,
	[VIEW_MAP] = &view_map,
	[VIEW_OUTPUT] = &view_output,
	[VIEW_DETAIL] = &view_detail,
	[VIEW_WHY] = &view_why,
	[VIEW_MARKS] = &view_marks,
	[VIEW_HELP] = &view_help,
	[VIEW_SETTINGS] = &view_settings,
	[VIEW_PROCESSES] = &view_processes,
};

void ui_init(struct ui *ui, const struct tui_source *source, const struct tui_options *options)
{
	*ui = (struct ui){ .source = source, .options = *options, .depth = 1 };
	ui->sort = options->sort;
	ui->reverse = options->reverse;
	ui->names = options->names;
	ui->show_hidden = options->show_hidden;
	ui->stack[0] = options->tree ? VIEW_TREE : VIEW_SITES;
	ui->output.follow = true;
	ui->group.by = options->group;
	find_filter_set(ui, options->filter);
	settings_sync_start(ui);
}

void ui_free(struct ui *ui)
{
	snapshot_unref(ui->current);
	snapshot_unref(ui->shown);
	free(ui->sites.order);
	free(ui->sites.ids);
	view_tree_reset(ui);
	view_modules_free(ui);
	view_threads_free(ui);
	view_map_reset(ui);
	view_leaks_free(ui);
	view_help_free(ui);
	find_free(ui);
	group_free(ui);
	strbuf_free(&ui->clipboard);
	*ui = (struct ui){ 0 };
}

const struct view *ui_view(const struct ui *ui)
{
	return view_table[ui->stack[ui->depth - 1]];
}

uint64_t ui_now_ns(const struct ui *ui)
{
	return ui->source->now_ns(ui->source->ctx);
}

bool ui_is_sampled(const struct ui *ui)
{
	return ui->shown && ui->shown->sampling.most != 0;
}

struct layout_kind ui_kind(const struct ui *ui)
{
	return (struct layout_kind){ .sampled = ui_is_sampled(ui),
		.hidden = ui->columns_off,
		.marked = ui->shown && ui->shown->since,
		.grouped = ui->group.by != GROUP_STACK && !ui->group.is_inside };
}

struct row_style ui_style(const struct ui *ui)
{
	return (struct row_style){
		.glyphs = draw_glyph_set(), .names = ui->names, .show_hidden = ui->show_hidden
	};
}

void ui_message(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ui->message, sizeof(ui->message), fmt, ap);
	va_end(ap);
	ui->message_ns = ui_now_ns(ui);
}

const struct snap_site *ui_site(const struct ui *ui, uint32_t id)
{
	for (size_t i = 0; ui->shown && i < ui->shown->nsites; i++)
		if (ui->shown->sites[i].id == id)
			return &ui->shown->sites[i];
	return NULL;
}

/* ---- where we are ------------------------------------------------------------------------- */

static void ui_layout(struct ui *ui)
{
	const struct view *v = ui_view(ui);
	unsigned flags = v->flags;

	if (ui->header_off)
		flags |= LAYOUT_NO_HEADER;
	if (ui->error || (ui->current && ui->current->notice))
		flags |= LAYOUT_NOTICE;
	layout_make(&ui->layout, ui->layout.width, ui->layout.height, flags);
	if (!ui->layout.tiny)
		list_resize(v->list(ui), (size_t)(v->rows ? v->rows(ui) : ui->layout.body_height));
}

void ui_resize(struct ui *ui, int height, int width)
{
	ui->layout.width = width;
	ui->layout.height = height;
	ui_layout(ui);
}

/* A view came to the front. */
static void ui_front(struct ui *ui)
{
	ui_layout(ui);
	if (ui_view(ui)->open)
		ui_view(ui)->open(ui);
	ui_view(ui)->update(ui);
	ui_layout(ui);
}

void ui_push(struct ui *ui, enum view_id id)
{
	if (ui->depth == UI_STACK_MAX)
		return;
	ui->stack[ui->depth++] = id;
	ui_front(ui);
}

bool ui_pop(struct ui *ui)
{
	if (ui->depth == 1)
		return false;
	ui->depth--;
	ui_layout(ui);
	ui_view(ui)->update(ui);
	return true;
}

void ui_tab(struct ui *ui, enum view_id id)
{
	ui->depth = 1;
	ui->stack[0] = id;
	ui_front(ui);
}

void ui_move(struct ui *ui, enum list_motion motion)
{
	list_go(ui_view(ui)->list(ui), motion);
	if (ui_view(ui)->moved)
		ui_view(ui)->moved(ui);
}

/* ---- data --------------------------------------------------------------------------------- */

void ui_reorder(struct ui *ui)
{
	find_filter_apply(ui);
	group_apply(ui);
	/* The table is what the detail view walks along, so it is kept in order behind it. */
	view_sites.update(ui);
	if (ui_view(ui) != &view_sites)
		ui_view(ui)->update(ui);
}

/* Site ids are an image's own: what was picked in the one before means nothing in the next. */
static void ui_image_changed(struct ui *ui)
{
	bool other = ui->shown->pid != ui->current->pid;

	if (other)
		view_processes_left(ui, ui->shown);
	view_leaks_free(ui);
	while ((ui_view(ui)->scope & (IN_DETAIL | IN_WHY)) && ui_pop(ui))
		;
	ui->sites.has_selected = ui->sites.has_chosen = ui->group.is_inside = false;
	ui->sites.drawn = 0;
	view_tree_reset(ui);
	view_modules_free(ui);
	view_threads_free(ui);
	view_map_reset(ui);
	ui->sites.list = (struct list){ .height = ui->sites.list.height };
	if (other)
		view_processes_entered(ui, ui->current);
	else
		ui_message(ui, "the program called exec: a new image, and its sites start anew");
}

/* With the columns since a mark goes the order by one of them. */
static void ui_marks_ended(struct ui *ui)
{
	if (ui->sort != COL_SINCE && ui->sort != COL_SINCE_BLOCKS && ui->sort != COL_KEPT)
		return;
	ui->sort = COL_LIVE;
	ui->reverse = false;
}

static void ui_show_current(struct ui *ui)
{
	bool marked = ui->shown && ui->shown->since;

	if (ui->shown && ui->shown->owner != ui->current->owner)
		ui_image_changed(ui);
	snapshot_unref(ui->shown);
	ui->shown = ui->current;
	if (ui->shown)
		snapshot_ref(ui->shown);
	if (marked && !(ui->shown && ui->shown->since))
		ui_marks_ended(ui);
	ui_reorder(ui);
}

/* They take time to read, so only for who looks at them. */
static bool ui_wants_ages(const struct ui *ui)
{
	return ui->sort == COL_AGE || !(ui->columns_off >> COL_AGE & 1) ||
	       view_leaks_wants_ages(ui) || (ui->filter && filter_wants_ages(ui->filter));
}

static bool ui_wants_threads(const struct ui *ui)
{
	return ui->group.by == GROUP_THREAD || ui_view(ui) == view_table[VIEW_THREADS] ||
	       (ui->filter && filter_wants_threads(ui->filter));
}

bool ui_wants_look(const struct ui *ui)
{
	return !ui->frozen &&
	       ((ui_wants_ages(ui) && !ui->had_ages) || (ui_wants_threads(ui) && !ui->had_threads));
}

void ui_look(struct ui *ui)
{
	const char *error = NULL;
	struct snapshot *s;

	ui->had_ages = ui_wants_ages(ui);
	ui->had_threads = ui_wants_threads(ui);
	if (ui->source->ages)
		ui->source->ages(ui->source->ctx, ui->had_ages);
	if (ui->source->shares)
		ui->source->shares(ui->source->ctx, ui->had_threads);
	s = ui->source->tick(ui->source->ctx, &error);

	ui->error = error;
	if (!s)
		return;
	snapshot_unref(ui->current);
	ui->current = s;
	ui->growing = growth_rank(s, NULL, 0);
	if (ui->frozen)
		ui->waiting++;
	else
		ui_show_current(ui);
	view_leaks_tick(ui);
}

void ui_tick(struct ui *ui)
{
	ui->ticks++;
	ui_look(ui);
}

void ui_freeze(struct ui *ui, bool on)
{
	if (on && !ui->shown) {
		ui_message(ui, "nothing to freeze yet");
		return;
	}
	ui->frozen = on;
	ui->frozen_ns = ui_now_ns(ui);
	ui->waiting = 0;
	if (!on)
		ui_show_current(ui);
}

/* ---- input -------------------------------------------------------------------------------- */

void ui_key(struct ui *ui, int key)
{
	ui->message[0] = 0;
	if (ui->prompt.open) {
		prompt_key(&ui->prompt, ui, key);
		return;
	}
	if (ui->pending == 'g' && ui_view(ui) == view_table[VIEW_SITES]) {
		ui->pending = 0;
		if (group_choose(ui, key))
			return;
	}
	if (key != 'g')
		ui->pending = 0;
	if (ui->leaving && key == 't' && ui->source->end && !ui->options.readonly) {
		ui->source->end(ui->source->ctx);
		ui->quit = true;
		return;
	}
	if (key != 'q' && key != KEY_F(10))
		ui->leaving = false;
	keys_dispatch(ui, key);
}

static bool ui_in_row(const struct ui *ui, enum layout_row row, int y)
{
	int top = ui->layout.y[row], height = row == ROW_BODY ? ui->layout.body_height : 1;

	return top >= 0 && y >= top && y < top + height;
}

void ui_mouse(struct ui *ui, enum ui_mouse what, int y, int x)
{
	int tab;

	if (ui->prompt.open || ui->layout.tiny)
		return;
	ui->message[0] = 0;
	if (what != UI_CLICK) {
		ui_move(ui, what == UI_WHEEL_UP ? LIST_WHEEL_UP : LIST_WHEEL_DOWN);
	} else if (ui_in_row(ui, ROW_TABS, y)) {
		tab = header_tab_at(ui, x);
		if (tab >= 0)
			ui_tab(ui, (enum view_id)tab);
	} else if (ui_in_row(ui, ROW_HEAD, y)) {
		action_sort_click(ui, x);
	} else if (ui_view(ui)->click && ui_in_row(ui, ROW_BODY, y)) {
		ui_view(ui)->click(ui, y, x);
	}
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* Too small for anything: what is there, what is needed, and how to get out. */
static void ui_draw_tiny(const struct ui *ui)
{
	char line[64];
	unsigned width = (unsigned)ui->layout.width;

	snprintf(line, sizeof(line), "%dx%d, need %dx%d", ui->layout.width, ui->layout.height,
		LAYOUT_MIN_WIDTH, LAYOUT_MIN_HEIGHT);
	draw_text(0, 0, width, STYLE_PLAIN, line);
	if (ui->layout.height > 1)
		draw_text(1, 0, width, STYLE_PLAIN, "q quits heaptop");
}

static void ui_draw_status(struct ui *ui)
{
	char text[UI_MESSAGE_MAX] = "", cut[UI_MESSAGE_MAX];
	unsigned width = (unsigned)ui->layout.width;

	if (ui->layout.y[ROW_STATUS] < 0)
		return;
	ui_view(ui)->status(ui, text, sizeof(text));
	text_elide(cut, sizeof(cut), text, width - 2, false, draw_is_ascii());
	draw_text(ui->layout.y[ROW_STATUS], 1, width - 2, STYLE_PLAIN, cut);
}

/* Why it ended with an error is mostly in its own words. */
static bool ui_output_explains(const struct ui *ui)
{
	const struct snapshot *s = ui->current;

	return s && ui->source->output_lines && ui->stack[0] != VIEW_OUTPUT &&
	       (s->state == SNAP_KILLED || (s->state == SNAP_EXITED && s->exit_status > 0)) &&
	       ui->source->output_lines(ui->source->ctx) > 0;
}

/* What the message line says when nobody has anything to say. */
static void ui_idle_text(const struct ui *ui, char *text, size_t cap)
{
	char how[48];

	text[0] = 0;
	if (ui->pending == 'g' && ui_view(ui) == view_table[VIEW_SITES])
		snprintf(text, cap, "%s", group_choices());
	else if (ui->frozen)
		snprintf(text, cap,
			"frozen: %u newer snapshot%s waiting; the header keeps moving, the rows do "
			"not",
			ui->waiting, ui->waiting == 1 ? " is" : "s are");
	else if (ui_output_explains(ui))
		snprintf(text, cap, "the program %s; what it wrote is in the Output tab (S-Tab)",
			snapshot_state_text(ui->current, how));
	else if (ui->layout.y[ROW_BAR] < 0)
		snprintf(text, cap, "? help  q %s", ui->depth > 1 ? "back" : "quit");
}

static void ui_draw_message(struct ui *ui)
{
	char text[UI_MESSAGE_MAX], cut[UI_MESSAGE_MAX];
	unsigned width = (unsigned)ui->layout.width;
	int y = ui->layout.y[ROW_MESSAGE];
	bool said;

	if (ui->message[0] && ui_now_ns(ui) - ui->message_ns > MESSAGE_NS)
		ui->message[0] = 0;
	said = ui->message[0];
	ui_idle_text(ui, text, sizeof(text));
	if (ui->prompt.open) {
		prompt_draw(&ui->prompt, y, width);
		return;
	}
	text_elide(cut, sizeof(cut), said ? ui->message : text, width - 2, false, draw_is_ascii());
	draw_text(y, 1, width - 2, said ? STYLE_BOLD : STYLE_PLAIN, cut);
}

void ui_draw(struct ui *ui)
{
	view_output_tell_size(ui);
	ui_layout(ui);
	erase();
	if (ui->layout.tiny) {
		ui_draw_tiny(ui);
	} else {
		header_draw(ui);
		ui_view(ui)->draw(ui);
		ui_draw_status(ui);
		if (ui->prompt.open && ui->prompt.hint)
			draw_text(ui->layout.y[ROW_HINT], 1, (unsigned)ui->layout.width - 2,
				STYLE_DIM, ui->prompt.hint);
		else
			keys_draw_hints(ui, ui->layout.y[ROW_HINT], (unsigned)ui->layout.width);
		ui_draw_message(ui);
		keys_draw_bar(ui, ui->layout.y[ROW_BAR], (unsigned)ui->layout.width);
	}
	wnoutrefresh(stdscr);
}
