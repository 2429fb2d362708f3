/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline in the header: live bytes over time, the axis, flags, the cursor, the range, and
 * what is kept of the past. One line without an axis where the screen is not tall. Main thread.
 */
#ifndef TUI_TIME_STRIP_H
#define TUI_TIME_STRIP_H

#include "tui/infoline.h"
#include "tui/ui.h"

/* Resamples the timeline for ROW_HISTORY, if it is new or the screen's size is. */
void time_strip_update(struct ui *ui);
/* Draws it. False: there is none that says enough. */
bool time_strip_draw(const struct ui *ui, int y, unsigned width);
/* The counts to the right of a graph of one line. */
void time_strip_counts(const struct snapshot *snap, struct infoline *s);
/* The cell of the timeline at cell x of the screen, the nearest one for any x; -1: none is drawn.
 */
int time_strip_cell(const struct ui *ui, int x);

#endif
