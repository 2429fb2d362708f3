/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * New data on the screen: takes snapshots from the source and has the views show them. Main thread.
 */
#ifndef TUI_REFRESH_H
#define TUI_REFRESH_H

#include "tui/ui.h"

/* The time between two snapshots has passed: takes one. */
void refresh_tick(struct ui *ui);
/* Takes a snapshot between two ticks. */
void refresh_now(struct ui *ui);
/* Takes one of the moment that was set, without a tick. */
void refresh_moment(struct ui *ui);
/* Shows the kinds of memory that were chosen, of the newest snapshot. */
void refresh_kinds(struct ui *ui);
/* Shows the heap and mapped memory if a call site is of a kind that is not shown. False: it is not
 * known. */
bool refresh_show_site(struct ui *ui, uint32_t id);
/* Does the screen need data that the last snapshot was taken without? */
bool refresh_is_due(const struct ui *ui);
/* The rows, their order or their names changed: all views update. */
void refresh_views(struct ui *ui);
/* The same when the rows answer another question: the list in front shows its first rows again if
 * the selected one is among them. */
void refresh_anew(struct ui *ui);
/* Freezes the rows, or shows the newest snapshot again. */
void refresh_freeze(struct ui *ui, bool on);

#endif
