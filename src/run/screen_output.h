/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the screen calls to show the program's output and to type into it. `screen` is a struct
 * screen_source whose program has a terminal of its own. Main thread.
 */
#ifndef SRC_RUN_SCREEN_OUTPUT_H
#define SRC_RUN_SCREEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/util/term_line.h"

size_t screen_output_lines(void *screen);
uint64_t screen_output_dropped(void *screen);
void screen_output_line(void *screen, size_t i, struct term_line *out);
bool screen_output_cursor(void *screen, size_t *line, unsigned *cell);
void screen_output_type(void *screen, const char *bytes, size_t n);
void screen_output_press(void *screen, enum term_press key);
void screen_output_resize(void *screen, int rows, int cols);

#endif
