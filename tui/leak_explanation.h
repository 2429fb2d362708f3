/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a row of leaks, in lines: why its blocks count as lost, alive or growing, which
 * ones they are, who points to them, and where they were allocated. Main thread.
 */
#ifndef TUI_LEAK_EXPLANATION_H
#define TUI_LEAK_EXPLANATION_H

#include "tui/draw.h"
#include "tui/ui.h"

#define LEAK_EXPLANATION_LINES                                                                     \
	400 /* a stack of a thousand frames has the rest of its lines in the detail */
#define LEAK_EXPLANATION_TEXT 400

struct leak_explanation {
	struct {
		enum draw_style style;
		char text[LEAK_EXPLANATION_TEXT];
	} line[LEAK_EXPLANATION_LINES];
	size_t count;
	unsigned cells; /* sentences are broken to fit into so many; tables are not */
};

/* Fills `w`. `l`: what the last scan found; NULL: there was none. */
void leak_explanation_make(struct leak_explanation *w, unsigned cells, const struct ui *ui,
	const struct snap_leaks *l, const struct leaks_row *row);

#endif
