/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The launched program's terminal output, kept as the last lines of clean text. Main thread.
 */
#ifndef SRC_TARGET_OUTPUT_H
#define SRC_TARGET_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output;

/* `fd`: the master side of its pty, non-blocking; not owned. NULL on allocation failure. */
struct output *output_new(int fd);
void output_free(struct output *o);
/* Takes what is there. True when something came; *ended when the other side is closed. */
bool output_read(struct output *o, bool *ended);
/* Lines kept, the unfinished last one included; and line i, oldest 0. Valid until the next read. */
size_t output_lines(const struct output *o);
const char *output_line(const struct output *o, size_t i);

#endif
