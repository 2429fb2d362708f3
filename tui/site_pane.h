/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Below the site table of a tall screen: the site under the cursor with its whole call stack. Main
 * thread.
 */
#ifndef TUI_SITE_PANE_H
#define TUI_SITE_PANE_H

#include "tui/ui.h"

/* Lines of the pane; 0: the screen has no room for it. */
int site_pane_lines(const struct ui *ui);
/* `site` may be NULL. */
void site_pane_draw(const struct ui *ui, const struct snap_site *site, int y);

#endif
