/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions about the moment on the screen (shown_moment.h), and what belongs to it alone. Called
 * by all that draw it or choose it, on the main thread.
 */
#include "tui/shown_moment.h"

bool shown_moment_can(const struct ui *ui)
{
	return ui_timeline(ui) != NULL;
}

bool shown_moment_is_elsewhere(const struct ui *ui)
{
	return ui_moment(ui) != SNAP_NOW || ui->frozen;
}

bool shown_moment_can_leave(const struct ui *ui)
{
	return ui->frozen || ui_moment(ui) == SNAP_PEAK ||
	       (ui_moment(ui) != SNAP_NOW && ui->source->timeline);
}

bool shown_moment_can_range(const struct ui *ui)
{
	return shown_moment_is_past(ui) && ui_timeline(ui);
}

uint64_t shown_moment_newest_ns(const struct ui *ui)
{
	const struct snapshot *s = ui_newest(ui);

	return s ? s->uptime_ns : 0;
}

bool shown_moment_range(const struct ui *ui, uint64_t *from_ns, uint64_t *to_ns)
{
	const struct moments_state *st = &ui->moments;

	*from_ns = st->start_ns < st->cursor_ns ? st->start_ns : st->cursor_ns;
	*to_ns = st->start_ns < st->cursor_ns ? st->cursor_ns : st->start_ns;
	return ui_moment(ui) == SNAP_RANGE;
}

bool shown_moment_cursor(const struct ui *ui, uint64_t *ns)
{
	*ns = 0;
	if (!shown_moment_is_elsewhere(ui))
		return false;
	*ns = ui_moment(ui) == SNAP_PAST || ui_moment(ui) == SNAP_RANGE ? ui->moments.cursor_ns
									: ui->shown->uptime_ns;
	return true;
}

bool shown_moment_is_peak(const struct ui *ui)
{
	return ui_moment(ui) == SNAP_PEAK;
}

bool shown_moment_has_peak(const struct ui *ui)
{
	/* A diff has two sides: of their peaks, it is another one. */
	return ui->source->moment_show && ui->shown && ui->shown->totals.has_at_peak &&
	       !ui->shown->compared;
}

bool shown_moment_is_past(const struct ui *ui)
{
	return ui_moment(ui) == SNAP_PAST || ui_moment(ui) == SNAP_RANGE;
}

bool shown_moment_has_start(const struct ui *ui)
{
	return ui->moments.has_start;
}

bool shown_moment_is_replay(const struct ui *ui)
{
	const struct timeline *t = ui_timeline(ui);

	return t && t->replay;
}

/* A range is shown by its growth; the order before it returns after it. */
void shown_moment_order(struct ui *ui, enum snap_moment kind)
{
	struct moments_state *st = &ui->moments;

	if (kind == SNAP_RANGE && !st->sorted) {
		st->sorted = true;
		st->sort = ui->sort;
		st->reverse = ui->reverse;
		ui->sort = COL_SINCE;
		ui->reverse = false;
	} else if (kind != SNAP_RANGE && st->sorted) {
		st->sorted = false;
		if (ui->sort == COL_SINCE || ui->sort == COL_SINCE_ALLOC ||
			ui->sort == COL_SINCE_FREED) {
			ui->sort = st->sort;
			ui->reverse = st->reverse;
		}
	}
}

void shown_moment_adopt(struct ui *ui)
{
	struct moments_state *st = &ui->moments;
	const struct snapshot *s = ui->shown;

	if (!s || s->moment == st->shown.kind)
		return;
	st->shown = (struct moment){ .kind = s->moment };
	if (s->moment == SNAP_PAST || s->moment == SNAP_RANGE)
		st->shown.ns = st->cursor_ns = s->uptime_ns;
	if (s->moment == SNAP_RANGE)
		st->shown.from_ns = st->start_ns = s->range_from_ns;
	st->has_start = s->moment == SNAP_RANGE;
	shown_moment_order(ui, s->moment);
}

void shown_moment_reset(struct ui *ui)
{
	struct moment now = { .kind = SNAP_NOW };
	char text[UI_MESSAGE_MAX];

	shown_moment_order(ui, SNAP_NOW);
	/* A recording chooses the instant itself: that of the image that was shown before. */
	if (ui->moments.shown.kind != SNAP_NOW && ui->source->moment_show &&
		!shown_moment_is_replay(ui))
		ui->source->moment_show(ui->source->ctx, &now, text, sizeof(text));
	ui->moments = (struct moments_state){ 0 };
}
