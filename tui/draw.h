/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws text on stdscr: cleaned, in one of a few styles, truncated to a number of cells. How a
 * style looks and which glyphs are used is decided once (colours, mono, NO_COLOR). Main thread; one
 * screen per process.
 */
#ifndef TUI_DRAW_H
#define TUI_DRAW_H

#include <stdbool.h>
#include "src/model/columns.h"
#include "tui/tui.h"

/* Colour is never the only sign: a glyph or a word says the same. */
enum draw_style {
	STYLE_PLAIN,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_HEAD, /* column headers */
	STYLE_HEAD_SORT, /* the column that sorts */
	STYLE_SELECT, /* the row under the cursor */
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_WARN,
	STYLE_INFO,
	STYLE_KEY, /* a key's name in hints */
	STYLE_LABEL, /* a key's meaning in the bottom bar */
	STYLE_MOMENT, /* another moment than now, and its place on the timeline */
	STYLE_COUNT
};

/* Glyphs that differ between the glyph sets. */
enum draw_glyph {
	GLYPH_LIVE,
	GLYPH_FROZEN,
	GLYPH_DOWN,
	GLYPH_UP,
	GLYPH_ELLIPSIS,
	GLYPH_HLINE,
	GLYPH_VLINE,
	GLYPH_TEE,
	GLYPH_HERE,
	GLYPH_AT_MOST,
	GLYPH_ELLIPSIS_1, /* in one cell */
	GLYPH_TREE_LINE,
	GLYPH_TREE_BRANCH,
	GLYPH_TREE_END,
	GLYPH_CALLS,
	GLYPH_CALLED_BY,
	GLYPH_MORE_LEFT, /* something is scrolled out */
	GLYPH_MORE_RIGHT,
	GLYPH_SHADE, /* the background of a range */
	GLYPH_COUNT
};

/* What colours are drawn on. */
enum draw_background { DRAW_UNKNOWN, DRAW_DARK, DRAW_LIGHT };

/* What the terminal's background was found to be; before draw_init. */
void draw_background_set(enum draw_background on);
/* The colours of a style on a background, of the 16 that terminals have; -1: the terminal's own. */
void draw_colors(
	enum draw_background on, enum draw_style style, bool safe, short *front, short *back);
/*
 * Chooses colours and glyphs; the screen must be open. Colours depend on `color`, then NO_COLOR,
 * then the terminal. Glyphs are ASCII if requested, if the locale is not UTF-8, or if the terminal
 * is known to lack the others (TERM linux, dumb, vt100).
 */
void draw_init(enum tui_color color, bool ascii);
/* The same from the settings, at any time. */
void draw_configure(
	enum settings_color color, enum settings_glyphs glyphs, enum settings_theme theme);
bool draw_is_ascii(void);
enum glyphs draw_glyph_set(void);
const char *draw_glyph(enum draw_glyph sign);

/* Draws `text` at (y, x) in at most `cells` cells. Returns the cells taken. */
unsigned draw_text(int y, int x, unsigned cells, enum draw_style style, const char *text);
/* The same on as many lines as its words take, at most `most`, of which the last may end in an
 * ellipsis. Returns their number. */
int draw_sentence(int y, int x, unsigned cells, int most, enum draw_style style, const char *text);
/* The same, then blanks in the same style up to `cells`. */
void draw_padded(int y, int x, unsigned cells, enum draw_style style, const char *text);
/* The same in a program's own style; without colours in its other attributes. */
struct term_style;
void draw_program(int y, int x, unsigned cells, const struct term_style *style, const char *text);
void draw_fill(int y, int x, unsigned cells, enum draw_style style);
/* A horizontal line with " title " near its left end. */
void draw_rule(int y, int x, unsigned cells, const char *title);

#endif
