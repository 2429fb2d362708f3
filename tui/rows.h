/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which rows the site table has: the call sites of the snapshot, those that the filter passes, or
 * groups of them. Main thread.
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "tui/ui.h"

/* Makes ui->rows of ui->shown by the filter, and ui->listed of ui->rows by the grouping. */
void rows_update(struct ui *ui);
/* The id of the row that a site, by its id, is in; the site's own id if there is none. */
uint32_t rows_find(const struct ui *ui, uint32_t site);
bool rows_are_grouped(const struct ui *ui);
void rows_free(struct ui *ui);

#endif
