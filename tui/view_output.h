/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own output. Main thread. */
#ifndef TUI_VIEW_OUTPUT_H
#define TUI_VIEW_OUTPUT_H

#include "tui/ui.h"

extern const struct view view_output;

/* Whether the program has the keyboard; then keys go to view_output_key. */
bool view_output_types(const struct ui *ui);
void view_output_key(struct ui *ui, int key);
/* For the table of keys: lends the keyboard to the program. */
/* Is there a program that reads what is typed? */
bool view_output_can_give(const struct ui *ui);
void view_output_give(struct ui *ui, int arg, int key);
/* Where the program's cursor is on the screen. False: nowhere. */
bool view_output_cursor(const struct ui *ui, int *y, int *x);
/* Gives the program's terminal the size of the Output tab, if that changed. */
void view_output_resize(struct ui *ui);

#endif
