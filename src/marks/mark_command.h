/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop --mark: marks a process from a script. Main thread. */
#ifndef SRC_MARKS_MARK_COMMAND_H
#define SRC_MARKS_MARK_COMMAND_H

#include <sys/types.h>

#define MARK_COMMAND_LINE_MAX 512

/*
 * Reads the present counts of each call site and adds them to the process's marks, where any viewer
 * finds them, now or later. The process is neither signalled nor stopped. 0 and "mark 2 of process
 * 4211, at 12m41s", or -errno and the reason, in `line` (MARK_COMMAND_LINE_MAX).
 */
int mark_command_run(pid_t pid, const char *name, char *line);
/* The same; prints the line to stdout, or the reason for a failure to stderr. */
int mark_command_print(pid_t pid, const char *name);

#endif
