/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The segments there are, as a table, and clearing away those of ended programs. Main thread. */
#ifndef SRC_RUN_SEGMENT_LIST_H
#define SRC_RUN_SEGMENT_LIST_H

/*
 * A line for each segment to the standard output; commands are cut only on a terminal. 0 or -errno
 * when the directory cannot be read.
 */
int segment_list_print(void);
/* Removes what ended programs left, and prints how many. 0 or -errno. */
int segment_list_clean(void);

#endif
