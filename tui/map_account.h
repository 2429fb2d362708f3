/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "RSS 24M = heap 20M (live 15M + ...) + ... + files 3M": the first lines of the Map. Main thread.
 */
#ifndef TUI_MAP_ACCOUNT_H
#define TUI_MAP_ACCOUNT_H

#include "tui/ui.h"

/* Lines that it takes, 2 to `most`; mostly the same for all figures, so that the rows below do not
 * jump. */
int map_account_lines(const struct ui *ui, int most);
/* Draws it in `lines` lines from `y` on, with an ellipsis at their end if there is more; the map's
 * account must be known. */
void map_account_draw(const struct ui *ui, int y, int lines);

#endif
