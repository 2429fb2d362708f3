/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Foreign text (symbols, paths, argv, thread names, program output), made safe for a terminal and
 * measured in cells. UTF-8 is decoded here, byte by byte, independent of the locale; widths are
 * wcwidth()'s, so that they agree with ncurses. Any thread.
 */
#ifndef SRC_UTIL_TEXT_H
#define SRC_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies `len` bytes of `in` to `out` (capacity `cap`, always terminated) with every C0 and C1
 * control, DEL, bidi control (U+202A-202E, U+2066-2069, U+200E/F, U+061C), zero-width and line
 * separator (U+2028/9), and invalid UTF-8 byte replaced by '?'. Returns the bytes written without
 * the NUL; never cuts inside a character.
 */
size_t text_clean(char *out, size_t cap, const char *in, size_t len);
/* Blanks for line breaks, tabs and NULs, which belong into a command line, but not into one line on
 * a screen. */
void text_unfold(char *text, size_t len);
/* The same as text_clean, into new memory, which the caller frees. NULL when out of memory. */
char *text_clean_copy(const char *in, size_t len);
/* Decodes one character; returns its bytes (1 for an invalid byte, which becomes U+FFFD). */
size_t text_decode(const char *in, size_t len, uint32_t *code);
/* Cells of the text; a character of unknown width counts as 1. */
size_t text_cells(const char *text);
/* Bytes of the longest prefix that fits in `cells`; *used, if not NULL, gets the cells it takes. */
size_t text_fit(const char *text, size_t cells, size_t *used);
/* Bytes of the first line when `text` is broken at blanks to fit in `cells`, which is not 0; breaks
 * a longer word, too. The rest begins with the blank. */
size_t text_line(const char *text, size_t cells);
/*
 * Writes `text` into `out` cut to at most `cells` cells; if it does not fit, the last cell is an
 * ellipsis ("…", or with `ascii` "~", which ends no sentence). `from_left` cuts the beginning
 * instead ("…::tail", or with `ascii` ".::tail", since "~tail" is a destructor's name).
 * Returns cells used.
 */
size_t text_elide(
	char *out, size_t cap, const char *text, size_t cells, bool from_left, bool ascii);
/*
 * The same for facts with two blanks or more between them, as in "3 sites   12.4M live": those that
 * do not fit are left out whole, since a part of a number is another number. One that is too long
 * by itself is cut.
 */
size_t text_elide_parts(char *out, size_t cap, const char *text, size_t cells, bool ascii);

#endif
