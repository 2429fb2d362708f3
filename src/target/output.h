/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The launched program's terminal output, kept as the last lines of clean text. Main thread.
 */
#ifndef SRC_TARGET_OUTPUT_H
#define SRC_TARGET_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output;

/* `fd`: the master side of its pty, non-blocking; not owned. NULL on allocation failure. */
struct output *output_new(int fd);
void output_free(struct output *o);
/* Reads the available output. True when there was any; *ended when the other side is closed. */
bool output_read(struct output *o, bool *ended);
/* Lines kept, the unfinished last one included; and line i, oldest 0. Valid until the next read. */
size_t output_lines(const struct output *o);
const char *output_line(const struct output *o, size_t i);
/*
 * For a program that outlives the viewer and uses the terminal whose master side is `fd`. A
 * separate process keeps reading it, since closing it would hang up the program, and not reading it
 * would block the program. If that process cannot be made, the viewer stays until the program ends,
 * and says so.
 */
void output_leave(int fd, pid_t program);

#endif
