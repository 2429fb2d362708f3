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
/* Takes what is there. True when something came; *ended when the other side is closed. */
bool output_read(struct output *o, bool *ended);
/* Lines kept, the unfinished last one included; and line i, oldest 0. Valid until the next read. */
size_t output_lines(const struct output *o);
const char *output_line(const struct output *o, size_t i);
/*
 * For when we leave and the program goes on with its terminal, whose master side is `fd`: a process
 * of its own keeps emptying that, since closing it would hang the program up, and not reading it
 * would block it. Without one, we stay to do it until the program ends, and say so.
 */
void output_leave(int fd, pid_t program);

#endif
