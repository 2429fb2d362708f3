/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts above a site's stack: live blocks, totals, trend and growth. Main thread. */
#ifndef TUI_DETAIL_FACTS_H
#define TUI_DETAIL_FACTS_H

#include "tui/ui.h"

#define DETAIL_FACTS_LINES 3

/* Draws line `i` of them. */
void detail_facts_draw(
	const struct ui *ui, const struct snap_site *site, unsigned i, int y, unsigned cells);

#endif
