/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line of items that must fit a width: texts from the left and from the right, each with a
 * priority. If the line is too narrow, items of low priority are dropped. Main thread.
 */
#ifndef TUI_INFOLINE_H
#define TUI_INFOLINE_H

#include "tui/draw.h"

#define INFOLINE_ITEMS 64
#define INFOLINE_TEXT  512 /* of one item */
#define INFOLINE_TEXTS 2048 /* of all items: more than the widest line has room for */
#define INFOLINE_GAP   2 /* cells between two items */

struct infoline_item {
	const char *text; /* in infoline.text */
	enum draw_style style;
	unsigned priority; /* higher stays longer */
	unsigned cells; /* it takes */
	unsigned least; /* may be truncated to this; = cells if it is not elastic */
	bool right, joined; /* joined: no gap before it, dropped with the item before */
	bool dropped;
	bool modest; /* it shortens no elastic item */
	unsigned gap; /* cells before it, unless it is the first */
};

struct infoline {
	struct infoline_item item[INFOLINE_ITEMS];
	unsigned count;
	char text[INFOLINE_TEXTS];
	size_t text_bytes;
};

#define INFOLINE_INIT                                                                              \
	{                                                                                          \
		.count = 0                                                                         \
	}

/* Adds an item at the left, in order. */
void infoline_left(struct infoline *s, unsigned priority, enum draw_style style, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* Adds an item at the right; the first one added is the leftmost of them. */
void infoline_right(struct infoline *s, unsigned priority, enum draw_style style, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* Adds an item after the last one, without a gap; it is dropped with that one. */
void infoline_join(struct infoline *s, enum draw_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The last item may be truncated to `least` cells (with an ellipsis) before any item is dropped. */
void infoline_elastic(struct infoline *s, unsigned least);
/* The last item is shown only where no elastic one at the left need be truncated for it. */
void infoline_modest(struct infoline *s);
/* The last item is one cell from the one before, as part of the same fact. */
void infoline_tight(struct infoline *s);
/* Decides which items fit into `cells` cells. Pure. Returns the cells taken, with gaps. */
unsigned infoline_fit(struct infoline *s, unsigned cells);
/* Fits, then draws at line y from column x. */
void infoline_draw(struct infoline *s, int y, int x, unsigned cells);

#endif
