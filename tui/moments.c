/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choosing the moment on the screen (moments.h). The cursor is a time, not a tick, so that thinning
 * of the past does not move it. Every choice asks the source for another snapshot; what the rows
 * then show is that snapshot's moment, whatever was asked for. Called by the key table, the mouse
 * and the header, on the main thread.
 */
#include "tui/moments.h"

#include "src/model/mark_list.h"
#include "src/util/units.h"
#include "tui/moment_words.h"
#include "tui/refresh.h"
#include "tui/shown_moment.h"
#include "tui/time_strip.h"

#define TENTHS 10

/* ---- choosing ----------------------------------------------------------------------------- */

/* Shows a moment; false and a message if that is impossible. */
static bool show(struct ui *ui, struct moment m)
{
	char text[UI_MESSAGE_MAX] = "";

	if (ui->source->moment_show(ui->source->ctx, &m, text, sizeof(text)) != 0) {
		ui_message(ui, "%s", text);
		return false;
	}
	ui->moments.shown = m;
	ui->frozen = false;
	ui->waiting = 0;
	shown_moment_order(ui, m.kind);
	refresh_moment(ui);
	if (*text)
		ui_message(ui, "%s", text);
	return true;
}

static void cursor_set(struct ui *ui, uint64_t ns)
{
	struct moments_state *st = &ui->moments;
	struct moment m = { .kind = SNAP_PAST, .ns = ns };
	uint64_t before = st->cursor_ns;

	st->active = true;
	st->cursor_ns = ns;
	if (st->has_start && st->start_ns != ns) {
		m.kind = SNAP_RANGE;
		shown_moment_range(ui, &m.from_ns, &m.ns);
	}
	if (!show(ui, m))
		st->cursor_ns = before;
}

/* The past, for a key; NULL and a message. */
static const struct timeline *past_of(struct ui *ui)
{
	const struct timeline *t = ui_timeline(ui);

	if (!t)
		ui_message(ui, "no history is kept");
	return t;
}

/* The time that a step starts from. */
static uint64_t cursor_from(const struct ui *ui, const struct timeline *t)
{
	uint64_t ns;

	return shown_moment_cursor(ui, &ns) ? ns : t->points[t->npoints - 1].ns;
}

static void past_end(struct ui *ui)
{
	if (ui->moments.has_start)
		ui_message(ui, "the newest tick: the range ends here; F leaves it");
	else if (shown_moment_is_elsewhere(ui))
		moments_live(ui, 0, 0);
	else
		ui_message(ui, "this is the newest moment");
}

/* Ticks at equal times are one. */
void moments_step(struct ui *ui, int ticks, int key)
{
	const struct timeline *t = past_of(ui);
	uint64_t ns;
	size_t i;

	if (!t)
		return;
	ui->moments.active = true;
	ns = cursor_from(ui, t);
	i = timeline_index(t, ns);
	ns = t->points[i].ns;
	if (ticks < 0) {
		while (i > 0 && t->points[i].ns >= ns)
			i--;
		if (t->points[i].ns < ns)
			cursor_set(ui, t->points[i].ns);
		else
			ui_message(ui, "this is the first moment kept");
	} else if (i + 1 < t->npoints && (shown_moment_is_elsewhere(ui) || ui->moments.has_start)) {
		cursor_set(ui, t->points[i + 1].ns);
	} else {
		past_end(ui);
	}
}

void moments_leap(struct ui *ui, int tenths, int key)
{
	const struct timeline *t = past_of(ui);
	uint64_t first, last, ns, part, to;

	if (!t)
		return;
	first = t->points[0].ns;
	last = t->points[t->npoints - 1].ns;
	ns = cursor_from(ui, t);
	part = last > first ? (last - first) / TENTHS + 1 : 1;
	if (tenths < 0) {
		to = t->points[timeline_index(t, ns > part ? ns - part : 0)].ns;
		if (to >= ns)
			moments_step(ui, -1, key);
		else
			cursor_set(ui, to);
	} else if (ns + part >= last || ns + part < ns) {
		if (ns < last && shown_moment_is_elsewhere(ui) && ui->moments.has_start)
			cursor_set(ui, last);
		else
			past_end(ui);
	} else {
		to = t->points[timeline_index(t, ns + part)].ns;
		if (to <= ns)
			moments_step(ui, 1, key);
		else
			cursor_set(ui, to);
	}
}

/* To the highest tick of a cell; the last cell is now, unless it is an end of a range. */
static void cell_choose(struct ui *ui, unsigned cell)
{
	const struct timeline *t = past_of(ui);
	size_t i = ui->moments.strip.cell[cell].point;

	if (!t || !ui->moments.strip.cell[cell].known || i >= t->npoints)
		return;
	if (cell + 1 == ui->moments.strip.count && !ui->moments.has_start)
		moments_live(ui, 0, 0);
	else
		cursor_set(ui, t->points[i].ns);
}

void moments_column(struct ui *ui, int cells, int key)
{
	const struct timeline *t = past_of(ui);
	const struct strip *s = &ui->moments.strip;
	int at;

	if (!t)
		return;
	if (!s->count) { /* none is drawn */
		moments_step(ui, cells, key);
		return;
	}
	ui->moments.active = true;
	at = (int)strip_cell_at(s, cursor_from(ui, t)) + cells;
	while (at >= 0 && at < (int)s->count && !s->cell[at].has_point)
		at += cells;
	if (at < 0)
		moments_edge(ui, true);
	else if (at >= (int)s->count)
		past_end(ui);
	else
		cell_choose(ui, (unsigned)at);
}

void moments_edge(struct ui *ui, bool first)
{
	const struct timeline *t = past_of(ui);

	if (!t)
		return;
	if (first)
		cursor_set(ui, t->points[0].ns);
	else if (ui->moments.has_start)
		cursor_set(ui, t->points[t->npoints - 1].ns);
	else
		moments_live(ui, 0, 0);
	ui->moments.active = true;
}

void moments_highest(struct ui *ui, int arg, int key)
{
	const struct timeline *t = past_of(ui);
	char a[UNITS_MAX], b[UNITS_MAX];
	size_t most = 0;

	if (!t)
		return;
	for (size_t i = 1; i < t->npoints; i++)
		if (t->points[i].live_bytes > t->points[most].live_bytes)
			most = i;
	cursor_set(ui, t->points[most].ns);
	if (ui_moment(ui) != SNAP_NOW && !ui->message[0])
		ui_message(ui, "the highest tick: %s; the peak was %s (P: call sites at the peak)",
			units_bytes(a, ui->shown->totals.live_bytes),
			units_bytes(b, ui_newest(ui)->totals.peak_live_bytes));
}

/* The peak, if it is a spike between two ticks, higher than the largest rise between ticks; or 0.
 */
static uint64_t peak_between(const struct timeline *t, uint64_t rise)
{
	const struct timeline_point *p = &t->points[1];

	for (size_t i = 2; i < t->npoints; i++)
		if (t->points[i].high_bytes > p->high_bytes)
			p = &t->points[i];
	if (p->high_bytes <= p->live_bytes + rise || p->high_bytes <= p[-1].live_bytes + rise)
		return 0;
	return p->high_bytes;
}

static void jump_message(struct ui *ui, const struct timeline *t, uint64_t rise)
{
	uint64_t peak = peak_between(t, rise);
	size_t start = timeline_start(t);
	bool in_start = timeline_index(t, ui->moments.jump_ns) <= start;
	const char *since = start ? " since the start" : "";
	char a[UNITS_MAX], b[UNITS_MAX];

	units_bytes(a, rise);
	if (start && in_start)
		ui_message(ui, "rise %u: +%s in one tick of the program's start", ui->moments.jumps,
			a);
	else if (ui->moments.jumps > 1)
		ui_message(ui, "rise %u: +%s in one tick; s , shows where it came from, J the next",
			ui->moments.jumps, a);
	else if (peak)
		ui_message(ui,
			"the largest rise%s: +%s in one tick; P shows the peak of %s between two",
			since, a, units_bytes(b, peak));
	else
		ui_message(ui,
			"the largest rise%s: +%s in one tick; s , shows where it came from, J the "
			"next",
			since, a);
}

/* The tick after the largest rise; from one, that of the next largest. */
void moments_jump(struct ui *ui, int arg, int key)
{
	struct moments_state *st = &ui->moments;
	const struct timeline *t = past_of(ui);
	bool again = t && st->jumps && ui_moment(ui) == SNAP_PAST && st->cursor_ns == st->jump_ns;
	size_t i = t ? timeline_jump(t, again ? timeline_index(t, st->jump_ns) : 0) : 0;

	if (!t)
		return;
	if (!i) {
		ui_message(ui, again ? "there is no smaller rise"
				     : "live bytes never rose in the time that is kept");
		return;
	}
	st->has_start = false;
	st->jumps = again ? st->jumps + 1 : 1;
	st->jump_ns = t->points[i].ns;
	cursor_set(ui, st->jump_ns);
	if (ui_moment(ui) == SNAP_PAST && !ui->message[0])
		jump_message(ui, t, timeline_rise(t, i));
}

void moments_mark(struct ui *ui, int step, int key)
{
	const struct timeline *t = past_of(ui);
	const struct snap_mark *found = NULL;
	char text[MARK_LIST_TEXT];
	uint64_t ns;

	if (!t)
		return;
	ns = cursor_from(ui, t);
	/* The latest one comes first. */
	for (const struct snap_mark *m = ui->current ? ui->current->moments : NULL; m;
		m = m->before) {
		if (step > 0 && m->ns > ns)
			found = m;
		else if (step < 0 && m->ns < ns && !found)
			found = m;
	}
	if (!found) {
		ui_message(ui, "no mark %s this moment%s", step < 0 ? "before" : "after",
			ui->current && ui->current->moments ? "" : " (m marks one)");
		return;
	}
	mark_list_text(found, text);
	cursor_set(ui, found->ns);
	if (ui_moment(ui) != SNAP_NOW && !ui->message[0])
		ui_message(ui, "%s", text);
}

void moments_start(struct ui *ui, int arg, int key)
{
	const struct timeline *t = past_of(ui);
	struct moments_state *st = &ui->moments;
	char clock[UNITS_MAX];

	if (!t)
		return;
	if (st->has_start) {
		st->has_start = false;
		cursor_set(ui, st->cursor_ns);
		ui_message(ui, "the range has ended");
		return;
	}
	st->start_ns = cursor_from(ui, t);
	st->has_start = true;
	cursor_set(ui, st->start_ns);
	st->has_start = ui_moment(ui) != SNAP_NOW;
	if (st->has_start)
		ui_message(ui, "a range from %s: move the cursor to its other end; s ends it",
			moment_words_clock(ui, st->start_ns, clock));
}

void moments_peak(struct ui *ui, int arg, int key)
{
	struct moments_state *st = &ui->moments;

	if (!ui->source->moment_show) {
		ui_message(ui, "what was live at the peak is not recorded here");
	} else if (shown_moment_is_peak(ui)) {
		show(ui, st->before);
	} else {
		struct moment before = ui_moment(ui) == SNAP_NOW ? (struct moment){ 0 } : st->shown;

		if (show(ui, (struct moment){ .kind = SNAP_PEAK }))
			st->before = before;
	}
}

void moments_live(struct ui *ui, int arg, int key)
{
	if (ui_moment(ui) == SNAP_NOW && !ui->frozen) {
		ui_message(ui, shown_moment_is_replay(ui) ? "this is the end of the recording"
							  : "this is the newest moment");
		return;
	}
	if (!shown_moment_can_leave(ui)) {
		ui_message(ui, "this file was opened at one moment; --at chooses another");
		return;
	}
	ui->moments.has_start = false;
	if (ui_moment(ui) == SNAP_NOW)
		refresh_freeze(ui, false);
	else if (show(ui, (struct moment){ .kind = SNAP_NOW }) && ui_moment(ui) != SNAP_NOW &&
		 ui->source->since) {
		/* A recording shows the growth since a mark as a range. */
		ui->source->since(ui->source->ctx, 0, 0);
		refresh_moment(ui);
	}
}

bool moments_leave(struct ui *ui)
{
	if (ui_moment(ui) == SNAP_NOW || !shown_moment_can_leave(ui))
		return false;
	moments_live(ui, 0, 0);
	return true;
}

void moments_point(struct ui *ui, int x, bool start)
{
	struct moments_state *st = &ui->moments;
	const struct timeline *t = ui_timeline(ui);
	int cell = time_strip_cell(ui, x);
	size_t i;

	if (!t || cell < 0 || !st->strip.cell[cell].known)
		return;
	i = st->strip.cell[cell].point;
	if (!start) {
		cell_choose(ui, (unsigned)cell);
	} else if (i < t->npoints) {
		uint64_t at = cursor_from(ui, t);

		st->has_start = true;
		st->start_ns = t->points[i].ns;
		cursor_set(ui, at);
		st->has_start = ui_moment(ui) != SNAP_NOW;
	}
}
