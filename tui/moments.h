/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which moment is on the screen: now, the program's peak, an earlier tick, or a range of time; and
 * the keys and the mouse that choose it on the timeline. Main thread.
 */
#ifndef TUI_MOMENTS_H
#define TUI_MOMENTS_H

#include "tui/ui.h"

/* Keys; `arg` and `key` as in keys.h. */
void moments_step(struct ui *ui, int ticks, int key);
void moments_leap(struct ui *ui, int tenths, int key);
void moments_column(struct ui *ui, int cells, int key);
void moments_highest(struct ui *ui, int arg, int key);
void moments_jump(struct ui *ui, int arg, int key);
void moments_mark(struct ui *ui, int step, int key);
void moments_start(struct ui *ui, int arg, int key);
void moments_peak(struct ui *ui, int arg, int key);
void moments_live(struct ui *ui, int arg, int key);
/* The first kept tick, or now. */
void moments_edge(struct ui *ui, bool first);
/* Esc: back to now. False: that is what is shown. */
bool moments_leave(struct ui *ui);
/* A click, or the button held, at cell x of the screen; `start`: it sets the range's other end. */
void moments_point(struct ui *ui, int x, bool start);

#endif
