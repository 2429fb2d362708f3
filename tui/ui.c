/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the screen: questions that every view asks, the message line, and which view is in
 * front. Called by the views and by what drives them (screen.c, refresh.c), on the main thread.
 */
#include "tui/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include "src/model/value.h"
#include "tui/draw.h"

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

const struct snapshot *ui_newest(const struct ui *ui)
{
	const struct snapshot *s = ui->current;

	while (s && s->base)
		s = s->base;
	return s;
}

enum snap_moment ui_moment(const struct ui *ui)
{
	return ui->shown ? ui->shown->moment : SNAP_NOW;
}

const struct timeline *ui_recording(const struct ui *ui)
{
	if (!ui->source->timeline || !ui->source->moment_show)
		return NULL;
	return ui->source->timeline(ui->source->ctx);
}

const struct timeline *ui_timeline(const struct ui *ui)
{
	const struct timeline *t = ui_recording(ui);

	return t && t->npoints ? t : NULL;
}

bool ui_counts_since(const struct ui *ui)
{
	return ui_moment(ui) == SNAP_RANGE ||
	       (ui->shown && ui->shown->since && ui_moment(ui) != SNAP_PEAK);
}

struct layout_kind ui_kind(const struct ui *ui)
{
	return (struct layout_kind){ .sort = (int)ui->sort,
		.scroll = ui->sites.scroll,
		.set = ui->set,
		.look = &ui->look,
		.sampled = ui_is_sampled(ui),
		.hidden = ui->columns_off,
		.marked = ui_counts_since(ui),
		.ranged = ui_moment(ui) == SNAP_RANGE,
		.diff = ui->shown && ui->shown->compared,
		.diff_live = ui->shown && ui->shown->compared == &value_table[VALUE_LIVE],
		.typed = ui->shown && ui->shown->typed.typed.blocks > 0 &&
			 (ui->group.by != GROUP_TYPE || ui->group.is_inside),
		.retained = ui->shown && ui->shown->has_retained,
		.faults = ui->shown && ui->shown->totals.has_faults,
		.grouped = ui->group.by != GROUP_STACK && !ui->group.is_inside };
}

struct row_style ui_style(const struct ui *ui)
{
	return (struct row_style){
		.glyphs = draw_glyph_set(), .names = ui->names, .show_hidden = ui->show_hidden
	};
}

const struct tui_missing *ui_missing(const struct ui *ui, enum view_id tab)
{
	return view_table[tab]->missing ? view_table[tab]->missing(ui) : NULL;
}

const struct tui_missing *ui_front_missing(const struct ui *ui)
{
	return ui->depth == 1 ? ui_missing(ui, ui->stack[0]) : NULL;
}

void ui_message_end(struct ui *ui)
{
	ui->message[0] = 0;
	ui->leaving = ui->detaching = false;
	if (ui->pending == 'K')
		ui->pending = 0;
}

void ui_message(struct ui *ui, const char *fmt, ...)
{
	va_list ap;

	ui_message_end(ui);
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

const struct snap_site *ui_any_site(const struct ui *ui, uint32_t id)
{
	const struct snapshot *s = ui->shown;

	if (s && s->kinds)
		s = s->base;
	return s && id ? snapshot_site(s, id) : NULL;
}

bool ui_program_runs(const struct ui *ui)
{
	const struct snapshot *s = ui_newest(ui);

	return s && (s->state == SNAP_RUNNING || s->state == SNAP_STARTING);
}

/* ---- where we are ------------------------------------------------------------------------- */

void ui_layout(struct ui *ui)
{
	const struct view *v = ui_view(ui);
	unsigned flags = v->flags;

	if (ui->header_off)
		flags |= LAYOUT_NO_HEADER;
	if (ui->error || (ui->current && ui->current->notice))
		flags |= LAYOUT_NOTICE;
	if (ui_timeline(ui))
		flags |= LAYOUT_TIMELINE;
	if (ui_moment(ui) != SNAP_NOW)
		flags |= LAYOUT_ELSEWHERE;
	layout_make(&ui->layout, ui->layout.width, ui->layout.height, flags);
	if (!ui->layout.tiny)
		list_resize(v->list(ui), (size_t)(v->rows ? v->rows(ui) : ui->layout.body_height));
}

/* The view on top leaves the screen. */
static void ui_close(struct ui *ui)
{
	if (ui_view(ui)->close)
		ui_view(ui)->close(ui);
	ui->depth--;
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

bool ui_can_push(struct ui *ui, enum view_id id)
{
	if (ui->depth < UI_STACK_MAX)
		return true;
	ui_message(ui, "%s does not open: %d views are open, which is the most; Esc closes one",
		view_table[id]->title, UI_STACK_MAX);
	return false;
}

bool ui_push(struct ui *ui, enum view_id id)
{
	if (!ui_can_push(ui, id))
		return false;
	ui->stack[ui->depth++] = id;
	ui_front(ui);
	return true;
}

bool ui_pop(struct ui *ui)
{
	if (ui->depth == 1)
		return false;
	ui_close(ui);
	ui_layout(ui);
	ui_view(ui)->update(ui);
	return true;
}

bool ui_is_replaced(const struct ui *ui)
{
	return ui->frozen && ui->shown && ui->current && ui->shown->owner != ui->current->owner;
}

/* Two of the same view that come to lie on each other become one. */
void ui_remove(struct ui *ui, unsigned scopes)
{
	unsigned depth = 1;

	for (unsigned i = 1; i < ui->depth; i++) {
		const struct view *v = view_table[ui->stack[i]];

		if (!(v->scope & scopes) && ui->stack[i] != ui->stack[depth - 1])
			ui->stack[depth++] = ui->stack[i];
		else if (v->scope & scopes && v->close)
			v->close(ui);
	}
	if (depth == ui->depth)
		return;
	ui->depth = depth;
	ui_layout(ui);
	ui_view(ui)->update(ui);
}

void ui_tab(struct ui *ui, enum view_id id)
{
	while (ui->depth > 1)
		ui_close(ui);
	ui->stack[0] = id;
	ui_front(ui);
}

void ui_return(struct ui *ui, const enum view_id *stack, unsigned depth)
{
	while (ui->depth > 1)
		ui_close(ui);
	/* Events are followed only while their view is open. */
	for (ui->depth = 0; ui->depth < depth && stack[ui->depth] != VIEW_EVENTS; ui->depth++)
		ui->stack[ui->depth] = stack[ui->depth];
	ui_layout(ui);
	ui_view(ui)->update(ui);
	ui_layout(ui);
}

void ui_move(struct ui *ui, enum list_motion motion)
{
	list_go(ui_view(ui)->list(ui), motion);
	if (ui_view(ui)->moved)
		ui_view(ui)->moved(ui);
}
