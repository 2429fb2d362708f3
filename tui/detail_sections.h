/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the site detail is made of: sections of lines, one below the other, of which some stand
 * beside the stack where there is room. Main thread.
 */
#ifndef TUI_DETAIL_SECTIONS_H
#define TUI_DETAIL_SECTIONS_H

#include "tui/ui.h"

struct detail_section {
	size_t (*lines)(const struct ui *ui, const struct snap_site *site);
	/* Line i, of those. */
	void (*draw)(const struct ui *ui, const struct snap_site *site, size_t i, int y, int x,
		unsigned cells);
	size_t heads; /* the first lines of it that say nothing by themselves */
};

extern const struct detail_section detail_sections_ages, detail_sections_threads,
	detail_sections_siblings;
/* Other sites that are reached through the call that this one's function was called by. */
void detail_sections_find_siblings(struct ui *ui, const struct snap_site *site);

#endif
