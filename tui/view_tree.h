/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree. Main thread. */
#ifndef TUI_VIEW_TREE_H
#define TUI_VIEW_TREE_H

#include "tui/ui.h"

extern const struct view view_tree;

/* Opens the path to where a site's stack ends, and selects it. */
void view_tree_show_site(struct ui *ui, uint32_t site);
/* Forgets all nodes: another image or other naming rules make other nodes. */
void view_tree_reset(struct ui *ui);

/* Keys; the arguments are the key table's. */
void view_tree_open(struct ui *ui, int arg, int key);
void view_tree_close(struct ui *ui, int arg, int key);
void view_tree_toggle(struct ui *ui, int arg, int key);
void view_tree_parent(struct ui *ui, int arg, int key);
void view_tree_all(struct ui *ui, int open, int key);
void view_tree_invert(struct ui *ui, int arg, int key);
void view_tree_zoom(struct ui *ui, int in, int key);
void view_tree_least(struct ui *ui, int arg, int key);
void view_tree_detail(struct ui *ui, int arg, int key);

/* The next figure that totals are sums of: live bytes, allocated bytes, allocations, ... */
void view_tree_value(struct ui *ui);

/* Opens the source of the function on the line in the editor. */
void view_tree_edit(struct ui *ui);

#endif
