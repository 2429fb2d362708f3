/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's own output. Main thread. */
#ifndef TUI_VIEW_OUTPUT_H
#define TUI_VIEW_OUTPUT_H

#include "tui/ui.h"

extern const struct view view_output;

/* Gives the program's terminal the size of the Output tab, if that changed. */
void view_output_resize(struct ui *ui);

#endif
