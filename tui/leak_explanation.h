/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything known about a row of Leaks, as lines: why its blocks are lost, reachable or growing,
 * which blocks they are, what points to them, and where they were allocated. Main thread.
 */
#ifndef TUI_LEAK_EXPLANATION_H
#define TUI_LEAK_EXPLANATION_H

#include "tui/draw.h"
#include "tui/ui.h"

#define LEAK_EXPLANATION_LINES 400 /* enough for all but the deepest stacks */
#define LEAK_EXPLANATION_TEXT  400

struct leak_explanation {
	struct {
		enum draw_style style;
		char text[LEAK_EXPLANATION_TEXT];
	} line[LEAK_EXPLANATION_LINES];
	size_t count;
	unsigned cells; /* sentences are wrapped to this width; tables are not */
};

/* Fills `w`. `l`: the result of the last scan, or NULL. */
void leak_explanation_make(struct leak_explanation *w, unsigned cells, const struct ui *ui,
	const struct snap_leaks *l, const struct leaks_row *row);

#endif
