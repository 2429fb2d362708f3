/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocations at one call site as they happen. Main thread. */
#ifndef TUI_VIEW_EVENTS_H
#define TUI_VIEW_EVENTS_H

#include "tui/ui.h"

extern const struct view view_events;
/* Key: follows the site that Site detail shows. */
void view_events_show(struct ui *ui, int arg, int key);
/* Key: keeps the lines that are shown, or follows the end again. */
void view_events_hold(struct ui *ui, int arg, int key);
bool view_events_is_held(const struct ui *ui);
bool view_events_can(const struct ui *ui);

#endif
