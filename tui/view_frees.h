/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wrong frees, and the call stacks of one. Main thread. */
#ifndef TUI_VIEW_FREES_H
#define TUI_VIEW_FREES_H

#include "tui/ui.h"

extern const struct view view_frees;

/* Keys: the list, and back; the stacks of the row, and without them. */
void view_frees_show(struct ui *ui, int arg, int key);
void view_frees_stacks(struct ui *ui, int arg, int key);
bool view_frees_is_open(const struct ui *ui);

#endif
