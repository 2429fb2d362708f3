/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes and lifetimes of blocks. Main thread. */
#ifndef TUI_VIEW_SIZES_H
#define TUI_VIEW_SIZES_H

#include "tui/ui.h"

extern const struct view view_sizes;

/* A key: the site above or below in the table. */
void view_sizes_neighbour(struct ui *ui, int step, int key);

#endif
