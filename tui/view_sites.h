/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of call sites. Main thread. */
#ifndef TUI_VIEW_SITES_H
#define TUI_VIEW_SITES_H

#include "tui/ui.h"

extern const struct view view_sites;

/* Selects the row of this site in the table. */
void view_sites_select(struct ui *ui, uint32_t site);
/* Sorts by a column; a second time: in reverse. */
void view_sites_sort(struct ui *ui, enum column column);
/* Scrolls sideways: one column, or names once the last column is there; 0: all the way back. */
void view_sites_scroll(struct ui *ui, int cells);
void view_sites_click_head(struct ui *ui, int x);

#endif
