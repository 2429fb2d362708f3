/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines above the views: the program, its memory, rates and costs. Main thread. */
#ifndef TUI_HEADER_H
#define TUI_HEADER_H

#include "tui/ui.h"

/* Draws the rows from ROW_TITLE to ROW_TABS that the layout has. */
void header_draw(const struct ui *ui);
/* The tab under cell x of ROW_TABS, or -1. */
int header_tab_at(const struct ui *ui, int x);

#endif
