/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The address space. Main thread. */
#ifndef TUI_VIEW_MAP_H
#define TUI_VIEW_MAP_H

#include "tui/ui.h"

extern const struct view view_map;

/* Keys; the arguments are the key table's. */
void view_map_neighbour(struct ui *ui, int step, int key);
void view_map_cell(struct ui *ui, int step, int key);
void view_map_zoom(struct ui *ui, int in, int key);
void view_map_detail(struct ui *ui, int arg, int key);
void view_map_pin(struct ui *ui, int arg, int key);
void view_map_address(struct ui *ui, int arg, int key);
void view_map_part(struct ui *ui, int step, int key);
void view_map_tab(struct ui *ui, int arg, int key);

/* The call site under the cursor; 0: none. */
uint32_t view_map_site(const struct ui *ui);

#endif
