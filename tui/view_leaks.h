/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a leak scan found, and what grows. Main thread. */
#ifndef TUI_VIEW_LEAKS_H
#define TUI_VIEW_LEAKS_H

#include "tui/ui.h"

extern const struct view view_leaks;

bool view_leaks_can_scan(const struct ui *ui);
bool view_leaks_can_release(const struct ui *ui);
bool view_leaks_has_contents(const struct ui *ui);
/* Ends a scan in progress, if Leaks or Why is in front. */
bool view_leaks_cancel(struct ui *ui);

/* Keys; the arguments are the key table's. */
void view_leaks_scan(struct ui *ui, int arg, int key);
void view_leaks_release(struct ui *ui, int arg, int key); /* lets a held program end */
void view_leaks_tab(struct ui *ui, int arg, int key);
void view_leaks_every(struct ui *ui, int arg, int key);
void view_leaks_kind(
	struct ui *ui, int arg, int key); /* the next key chooses (view_leaks_choose) */
void view_leaks_contents(struct ui *ui, int arg, int key);
void view_leaks_suppress(struct ui *ui, int arg, int key);
void view_leaks_why(struct ui *ui, int arg, int key);

/* Handles the key after view_leaks_kind. False: it is no choice, and keeps its usual meaning. */
bool view_leaks_choose(struct ui *ui, int key);

#endif
