/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of a line of a program's terminal, and the keys that are not characters: shared by
 * the terminal to which a program writes and the screen that shows it.
 */
#ifndef SRC_UTIL_TERM_LINE_H
#define SRC_UTIL_TERM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERM_LINE_DEFAULT (-1) /* a colour: the terminal's own */

struct term_style {
	int16_t fore, back; /* 0 to 255 as xterm numbers them, or TERM_LINE_DEFAULT */
	bool bold, underline, italic, reverse;
};

/* Characters of one style, from cell `at` on. */
struct term_run {
	unsigned at, cells;
	size_t from, bytes; /* of the line's text */
	struct term_style style;
};

struct term_line {
	const char *text; /* UTF-8, clean, without blanks at its end */
	const struct term_run *run; /* in order; what is between them is blank */
	size_t runs;
};

/* A function key is TERM_PRESS_F and its number. */
enum term_press {
	TERM_PRESS_UP,
	TERM_PRESS_DOWN,
	TERM_PRESS_LEFT,
	TERM_PRESS_RIGHT,
	TERM_PRESS_HOME,
	TERM_PRESS_END,
	TERM_PRESS_PAGE_UP,
	TERM_PRESS_PAGE_DOWN,
	TERM_PRESS_INSERT,
	TERM_PRESS_DELETE,
	TERM_PRESS_BACKSPACE,
	TERM_PRESS_BACK_TAB,
	TERM_PRESS_F,
};

#endif
