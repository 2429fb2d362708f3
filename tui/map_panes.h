/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panes of Map: their places and their drawing. The selection and the keys are in view_map.c.
 * Main thread.
 */
#ifndef TUI_MAP_PANES_H
#define TUI_MAP_PANES_H

#include "tui/ui.h"

#define MAP_PANES_NAME	  160 /* bytes */
#define MAP_PANES_ADDRESS 14 /* cells of a line's address and the gap after it */

/* First lines and heights of the panes; a pane of no lines is not shown. */
struct map_panes {
	int account_y, account; /* what RSS is */
	int rows_y, rows; /* mappings, below a line of headers */
	int grid_y, grid; /* cells, below a legend; after them a line about the cursor */
	int pins_y, pins; /* sites, below a rule and a line of headers */
	unsigned cells; /* in a line of the grid */
	int classes_x; /* of the size classes beside it; -1: none */
};

void map_panes_make(struct map_panes *p, const struct ui *ui);
/* The row that is selected, or NULL. */
const struct map_row *map_panes_row(const struct ui *ui);
/* "brk heap", "mmap FUNCTION", ... */
const char *map_panes_name(
	const struct ui *ui, const struct map_row *row, char buf[MAP_PANES_NAME]);
/* The first visible row. */
size_t map_panes_top(const struct ui *ui, const struct map_panes *p);
/* Pages of a cell, and lines of cells that the selected row takes. */
size_t map_panes_zoom(const struct ui *ui, const struct map_panes *p);
size_t map_panes_lines(const struct ui *ui, const struct map_panes *p);
/* The page of the row that the cursor is on. */
size_t map_panes_cursor(const struct ui *ui);
void map_panes_draw(struct ui *ui);

#endif
