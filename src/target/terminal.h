/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal of a launched program, in a terminal emulator (libvterm): the program's output
 * becomes a screen, and the lines that scrolled off are kept. Main thread.
 */
#ifndef SRC_TARGET_TERMINAL_H
#define SRC_TARGET_TERMINAL_H

#include "src/util/strbuf.h"
#include "src/util/term_line.h"

struct terminal;

/* NULL when out of memory. */
struct terminal *terminal_new(int rows, int cols);
void terminal_free(struct terminal *t);
/* What the program wrote. */
void terminal_feed(struct terminal *t, const char *bytes, size_t n);
void terminal_resize(struct terminal *t, int rows, int cols);
/* Lines kept, oldest first: those that scrolled off, then those of the screen up to the last that
 * is not blank; on the alternate screen all of it, and nothing before. */
size_t terminal_lines(const struct terminal *t);
/* How many lines are no longer kept: line i was line i + 1 before the last of them went. */
uint64_t terminal_dropped(const struct terminal *t);
/* Line i; beyond the last it is empty. Valid until the next call. */
void terminal_line(struct terminal *t, size_t i, struct term_line *out);
/* Where the cursor is: a line, which may be beyond the last, and a cell. False: it is hidden. */
bool terminal_cursor(const struct terminal *t, size_t *line, unsigned *cell);
/* A key that is no character, as the program asked to get it. */
void terminal_press(struct terminal *t, enum term_press key);
/* What the terminal has to say to the program: keys, and answers to its questions. The caller takes
 * bytes from it. */
struct strbuf *terminal_answers(struct terminal *t);

#endif
