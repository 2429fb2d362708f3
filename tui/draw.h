/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Putting text on the screen: in one of a few inks, cut to cells, cleaned. What an ink looks like
 * is decided once (colours, mono, NO_COLOR), and so is the set of glyphs. Draws on stdscr; main
 * thread; one screen per process.
 */
#ifndef TUI_INK_H
#define TUI_INK_H

#include <stdbool.h>
#include "src/model/columns.h"
#include "tui/tui.h"

/* Colour never stands alone: wherever an ink says something, a sign or a word says it too. */
enum ink {
	INK_PLAIN,
	INK_DIM,
	INK_BOLD,
	INK_HEAD, /* column headers */
	INK_HEAD_SORT, /* the header that sorts */
	INK_SELECT, /* the row under the cursor */
	INK_GOOD,
	INK_BAD,
	INK_WARN,
	INK_INFO,
	INK_KEY, /* a key's name in hints */
	INK_LABEL, /* a key's meaning in the bottom bar */
	INK_COUNT
};

/* Signs that differ between the glyph sets. */
enum ink_sign {
	SIGN_LIVE,
	SIGN_FROZEN,
	SIGN_DOWN,
	SIGN_UP,
	SIGN_ELLIPSIS,
	SIGN_HLINE,
	SIGN_VLINE,
	SIGN_TEE,
	SIGN_HERE,
	SIGN_AT_MOST,
	SIGN_ELLIPSIS_1, /* in one cell */
	SIGN_TREE_LINE,
	SIGN_TREE_BRANCH,
	SIGN_TREE_END,
	SIGN_CALLS,
	SIGN_CALLED_BY,
	SIGN_COUNT
};

/*
 * Decides colours and glyphs; the screen must have been opened. Colours: `color`, then NO_COLOR,
 * then what the terminal can. Glyphs: ASCII when asked for, when the locale is not UTF-8, or on a
 * terminal that is known to lack the others (TERM linux, dumb, vt100).
 */
void ink_init(enum tui_color color, bool ascii);
/* The same by the settings, at any time. */
void ink_settle(enum settings_color color, enum settings_glyphs glyphs, enum settings_theme theme);
bool ink_ascii(void);
enum glyphs ink_glyphs(void);
const char *ink_sign(enum ink_sign sign);

/* Draws `text` at (y, x) in at most `cells` cells. Returns the cells taken. */
unsigned ink_text(int y, int x, unsigned cells, enum ink ink, const char *text);
/* The same, then blanks in the same ink up to `cells`. */
void ink_padded(int y, int x, unsigned cells, enum ink ink, const char *text);
void ink_fill(int y, int x, unsigned cells, enum ink ink);
/* A line of SIGN_HLINE with " title " near its left end. */
void ink_rule(int y, int x, unsigned cells, const char *title);

#endif
