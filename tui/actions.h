/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keys do. Each action takes the binding's argument and the key pressed. Main thread.
 */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/ui.h"

void action_move(struct ui *ui, int motion, int key); /* enum list_motion */
void action_move_pair(struct ui *ui, int motion, int key); /* `g g` moves, Home moves at once */
void action_shift(struct ui *ui, int cells, int key); /* sideways; 0: back to the start */
void action_sort_digit(struct ui *ui, int arg, int key);
void action_sort_step(struct ui *ui, int step, int key);
void action_sort_click(struct ui *ui, int x); /* on a header */
/* The next set of columns; in the tree the next figure. */
void action_columns(struct ui *ui, int arg, int key);
void action_reverse(struct ui *ui, int arg, int key);
void action_freeze(struct ui *ui, int arg, int key);
void action_hold(struct ui *ui, int arg, int key);
void action_names(struct ui *ui, int arg, int key);
void action_hidden(struct ui *ui, int arg, int key);
void action_kinds(struct ui *ui, int arg, int key); /* the next kinds of memory */
void action_header(struct ui *ui, int arg, int key);
/* The detail of a leak's site; and the source of what the cursor stands on, in the editor. */
void action_site(struct ui *ui, int arg, int key);
void action_edit(struct ui *ui, int arg, int key);
void action_detail(struct ui *ui, int arg, int key);
void action_neighbour(struct ui *ui, int step, int key); /* next or previous site in Site detail */
void action_grower(struct ui *ui, int step, int key); /* next or previous growing site */
void action_tab(struct ui *ui, int step, int key);
void action_tree(struct ui *ui, int arg, int key); /* the tree, and back from it */
void action_save(struct ui *ui, int arg, int key);
void action_delay(struct ui *ui, int arg, int key);
void action_sample(struct ui *ui, int arg, int key);
void action_help(struct ui *ui, int arg, int key);
void action_repaint(struct ui *ui, int arg, int key);
void action_suspend(struct ui *ui, int arg, int key);
void action_back(struct ui *ui, int may_quit, int key);
void action_quit(struct ui *ui, int arg, int key);

bool action_can_sample(const struct ui *ui);
bool action_can_save(const struct ui *ui);
bool action_has_kinds(const struct ui *ui);
bool action_is_frozen(const struct ui *ui);
bool action_can_freeze(const struct ui *ui); /* what stands still needs no freezing */
bool action_is_tree(const struct ui *ui);
bool action_is_processes(const struct ui *ui);
bool action_is_held(const struct ui *ui);
bool action_is_hidden_shown(const struct ui *ui);

#endif
