/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of Leaks. Main thread. */
#ifndef TUI_LEAK_CELLS_H
#define TUI_LEAK_CELLS_H

#include "src/model/columns.h"
#include "tui/leak_list.h"
#include "tui/table.h"

/* The text of a row in the column at a place. `twin`: what tells it from rows of the same name, or
 * NULL. */
void leak_cells_text(const struct ui *ui, const struct leaks_row *row, const char *twin,
	const struct table_place *p, char out[COLUMN_TEXT_MAX]);

#endif
