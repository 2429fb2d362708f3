/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line of facts that must fit: pieces of text from the left and from the right, each with a
 * rank; when the line is too narrow, pieces of a high rank get their room first. Main thread.
 */
#ifndef TUI_STRIP_H
#define TUI_STRIP_H

#include "tui/draw.h"

#define STRIP_PIECES 64
#define STRIP_TEXT   512 /* of one piece */
#define STRIP_TEXTS  2048 /* of all: more than the widest line has room for */
#define STRIP_GAP    2 /* cells between two pieces */

struct strip_piece {
	const char *text; /* in the strip */
	enum ink ink;
	unsigned rank; /* higher stays longer */
	unsigned cells; /* it takes */
	unsigned least; /* may be cut down to this; = cells for a stiff piece */
	bool right, joined; /* joined: no gap before it, goes with the piece before */
	bool dropped;
	unsigned gap; /* cells before it, unless it is the first */
};

struct strip {
	struct strip_piece piece[STRIP_PIECES];
	unsigned count;
	char text[STRIP_TEXTS];
	size_t text_bytes;
};

#define STRIP_INIT                                                                                 \
	{                                                                                          \
		.count = 0                                                                         \
	}

/* A piece at the left, in order. */
void strip_left(struct strip *s, unsigned rank, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A piece at the right; the first one added ends up leftmost of them. */
void strip_right(struct strip *s, unsigned rank, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A piece that follows the last one without a gap, and is dropped with it. */
void strip_join(struct strip *s, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The last piece may be cut to `least` cells (with an ellipsis) before anything is dropped. */
void strip_elastic(struct strip *s, unsigned least);
/* The last piece stands one cell from the one before, as part of the same fact. */
void strip_tight(struct strip *s);
/* Decides what stays in `cells` cells. Pure. Returns the cells taken, gaps included. */
unsigned strip_fit(struct strip *s, unsigned cells);
/* Fits, then draws at line y from column x. */
void strip_draw(struct strip *s, int y, int x, unsigned cells);

#endif
