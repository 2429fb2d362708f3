/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call site in depth. Main thread. */
#ifndef TUI_VIEW_DETAIL_H
#define TUI_VIEW_DETAIL_H

#include "tui/ui.h"

extern const struct view view_detail;

/* Shows the site that is selected in the table. */
void view_detail_show(struct ui *ui);
/* A key: the sibling under the cursor. */
void view_detail_enter(struct ui *ui, int arg, int key);

#endif
