/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds the heap, by the last leak scan. Main thread. */
#ifndef TUI_VIEW_HOLDERS_H
#define TUI_VIEW_HOLDERS_H

#include "tui/ui.h"

extern const struct view view_holders;

/* Keys; the arguments are the key table's. */
void view_holders_show(struct ui *ui, int arg, int key); /* and back */
void view_holders_turn(struct ui *ui, int open, int key); /* opens or closes the line */
void view_holders_enter(struct ui *ui, int arg, int key); /* the site's detail; a root opens */
/* Is there a scan that knows holders? Is the view in front? Is the cursor on a root? */
bool view_holders_can(const struct ui *ui);
bool view_holders_is_shown(const struct ui *ui);
bool view_holders_on_root(const struct ui *ui);

#endif
