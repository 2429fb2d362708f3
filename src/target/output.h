/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The launched program's terminal: its output, including what has scrolled off, and the user's
 * input to it. Main thread.
 */
#ifndef SRC_TARGET_OUTPUT_H
#define SRC_TARGET_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/util/term_line.h"

struct output;

/* `fd`: the master side of its pty, non-blocking; not owned. NULL on allocation failure. */
struct output *output_new(int fd, int rows, int cols);
void output_free(struct output *o);
/* Reads the available output. True when there was any; *ended when the other side is closed. */
bool output_read(struct output *o, bool *ended);
/* The terminal has this size now; the program gets SIGWINCH. */
void output_resize(struct output *o, int rows, int cols);
/* As terminal_lines, terminal_dropped, terminal_line and terminal_cursor (terminal.h). */
size_t output_lines(const struct output *o);
uint64_t output_dropped(const struct output *o);
void output_line(struct output *o, size_t i, struct term_line *out);
bool output_cursor(const struct output *o, size_t *line, unsigned *cell);
/* Types characters, or a key that is none. What the program does not read in time is lost when
 * there is too much of it. */
void output_type(struct output *o, const char *bytes, size_t n);
void output_press(struct output *o, enum term_press key);
/*
 * For a program that outlives the viewer and uses the terminal whose master side is `fd`. A
 * separate process keeps reading it, since closing it would hang up the program, and not reading it
 * would block the program. When this returns, that process has no other file of ours open, and so
 * none of their locks. If it cannot be made, the viewer stays until the program ends, and says so.
 */
void output_leave(int fd, pid_t program);

#endif
