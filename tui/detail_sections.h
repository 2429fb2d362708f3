/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of the site detail: groups of lines, one below the other. Some are drawn beside the
 * stack if there is room. Main thread.
 */
#ifndef TUI_DETAIL_SECTIONS_H
#define TUI_DETAIL_SECTIONS_H

#include "tui/ui.h"

struct detail_section {
	size_t (*lines)(const struct ui *ui, const struct snap_site *site);
	/* Draws line i. */
	void (*draw)(const struct ui *ui, const struct snap_site *site, size_t i, int y, int x,
		unsigned cells);
	size_t heads; /* heading lines at its beginning */
};

extern const struct detail_section detail_sections_ages, detail_sections_threads,
	detail_sections_siblings;
/* Finds the other sites reached through the same call as this site's function. */
void detail_sections_find_siblings(struct ui *ui, const struct snap_site *site);

#endif
