/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop -l and --clean: lists the segments, and removes those of ended programs. Main thread. */
#ifndef SRC_RUN_LIST_COMMAND_H
#define SRC_RUN_LIST_COMMAND_H

/*
 * Prints a line for each segment to the standard output; commands are cut only on a terminal.
 * Returns the exit status: 0, or FAILURE_EXIT after one line on stderr.
 */
int list_command_print(void);
/* Removes the segments of ended programs, and prints their number. Returns the same. */
int list_command_clean(void);

#endif
