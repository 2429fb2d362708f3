/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of the call tree: of live bytes, of the changes since a mark or in a range, or of a
 * diff. Changes have an order and open lines of their own. Main thread.
 */
#ifndef TUI_TREE_TABLE_H
#define TUI_TREE_TABLE_H

#include "tui/ui.h"

/* Does the tree show changes? */
bool tree_table_has_changes(const struct ui *ui);
/* The columns, inverted or not, sampled or not. */
const struct table *tree_table_columns(const struct ui *ui);
/* What a column is. */
enum tree_rows_sort tree_table_meaning(const struct ui *ui, unsigned column);
struct table_order *tree_table_order(struct ui *ui);
/* The columns that are shown, left to right; returns how many. */
unsigned tree_table_fit(const struct ui *ui, struct table_place place[TABLE_COLUMNS]);
/* The tree that is shown. */
struct tree *tree_table_tree(struct ui *ui);
/* The column that changes are sorted by at first. */
#define TREE_TABLE_SINCE 2

#endif
