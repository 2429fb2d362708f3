/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a row of leaks, in lines: why its blocks count as lost, alive or growing, which
 * ones they are, who points to them, and where they were allocated. Main thread.
 */
#ifndef TUI_WHY_H
#define TUI_WHY_H

#include "tui/draw.h"
#include "tui/ui.h"

#define WHY_LINES 400 /* a stack of a thousand frames has the rest of its lines in the detail */
#define WHY_TEXT  400

struct why {
	struct {
		enum ink ink;
		char text[WHY_TEXT];
	} line[WHY_LINES];
	size_t count;
	unsigned cells; /* sentences are broken to fit into so many; tables are not */
};

/* Fills `w`. `l`: what the last scan found; NULL: there was none. */
void why_make(struct why *w, unsigned cells, const struct ui *ui, const struct snap_leaks *l,
	const struct leaks_row *row);

#endif
