/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the call tree, and the pane about the selected line. Main thread. */
#ifndef TUI_TREE_LINE_H
#define TUI_TREE_LINE_H

#include "tui/ui.h"

#define TREE_LINE_PANE 4 /* lines of the pane */

static inline const struct tree_node *tree_line_node(const struct ui *ui, uint32_t node)
{
	return &ui->tree.tree[ui_counts_since(ui)][ui->tree.inverted].node[node];
}

/* The line under the cursor, or NULL. */
static inline const struct tree_row *tree_line_selected(const struct ui *ui)
{
	const struct tree_state *st = &ui->tree;

	return st->list.cursor < st->rows.count ? &st->rows.row[st->list.cursor] : NULL;
}

/* A node's name, in at most `cells` cells (0: no limit); `out` has COLUMN_TEXT_MAX bytes. */
void tree_line_name(const struct ui *ui, const struct tree_node *n, unsigned cells,
	enum name_style style, char *out);
/* Draws line `at` of ui->tree.rows at y. */
void tree_line_draw(const struct ui *ui, size_t at, int y);
/* Is the body high enough for the pane? And its drawing. */
bool tree_line_has_pane(const struct ui *ui);
void tree_line_draw_pane(const struct ui *ui, int y);

#endif
