/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line of facts that must fit: pieces of text from the left and from the right, each with a
 * priority; when the line is too narrow, pieces of a high priority get their room first. Main
 * thread.
 */
#ifndef TUI_INFOLINE_H
#define TUI_INFOLINE_H

#include "tui/draw.h"

#define INFOLINE_ITEMS 64
#define INFOLINE_TEXT  512 /* of one piece */
#define INFOLINE_TEXTS 2048 /* of all: more than the widest line has room for */
#define INFOLINE_GAP   2 /* cells between two pieces */

struct infoline_item {
	const char *text; /* in the strip */
	enum draw_style style;
	unsigned priority; /* higher stays longer */
	unsigned cells; /* it takes */
	unsigned least; /* may be cut down to this; = cells for a stiff piece */
	bool right, joined; /* joined: no gap before it, goes with the piece before */
	bool dropped;
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

/* A piece at the left, in order. */
void infoline_left(struct infoline *s, unsigned priority, enum draw_style style, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* A piece at the right; the first one added ends up leftmost of them. */
void infoline_right(struct infoline *s, unsigned priority, enum draw_style style, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* A piece that follows the last one without a gap, and is dropped with it. */
void infoline_join(struct infoline *s, enum draw_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The last piece may be cut to `least` cells (with an ellipsis) before anything is dropped. */
void infoline_elastic(struct infoline *s, unsigned least);
/* The last piece stands one cell from the one before, as part of the same fact. */
void infoline_tight(struct infoline *s);
/* Decides what stays in `cells` cells. Pure. Returns the cells taken, gaps included. */
unsigned infoline_fit(struct infoline *s, unsigned cells);
/* Fits, then draws at line y from column x. */
void infoline_draw(struct infoline *s, int y, int x, unsigned cells);

#endif
