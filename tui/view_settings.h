/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings. Main thread. */
#ifndef TUI_VIEW_SETTINGS_H
#define TUI_VIEW_SETTINGS_H

#include "tui/ui.h"

extern const struct view view_settings;

/* Keys: the next value or the previous one, a rule removed, and the way in. */
void view_settings_step(struct ui *ui, int step, int key);
void view_settings_delete(struct ui *ui, int arg, int key);
void view_settings_open(struct ui *ui, int at_rules, int key);

/* Moves the column on the line to the left or right, and makes it wider or narrower. */
void view_settings_move(struct ui *ui, int step, int key);
void view_settings_size(struct ui *ui, int step, int key);

#endif
