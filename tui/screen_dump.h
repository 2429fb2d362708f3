/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes what is on the screen, as text and as styles, for scripts and for tests. Main thread; the
 * screen must be open.
 */
#ifndef TUI_SCREEN_DUMP_H
#define TUI_SCREEN_DUMP_H

#include <stdio.h>

/* Bytes of one line: 500 cells, each of them up to four bytes. */
#define SCREEN_DUMP_LINE 2048

/* One line in the locale's encoding, without the blanks at its end; `text` is returned. */
const char *screen_dump_line(int y, char text[SCREEN_DUMP_LINE]);
/* The whole screen, each line ended. */
void screen_dump_text(FILE *to);
/*
 * How it looks, each line ended and without the plain cells at its end. A cell is . b d r R: plain,
 * bold, dim, reversed, bold and reversed. One in colour is the sign of its style: 4 a column's
 * header, 5 the one that sorts, 6 the row under the cursor, 7 good, 8 bad, 9 a warning, A
 * information, C what a key does.
 */
void screen_dump_looks(FILE *to);

#endif
