/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's command line and executable as clean text, for snapshots. Read when the session
 * opens, once more when the library has reported, and whenever a forked child shows another.
 * Snapshots point to each version, so none is freed before the session. Main thread.
 */
#ifndef SRC_SESSION_COMMAND_LINE_H
#define SRC_SESSION_COMMAND_LINE_H

#include "src/read/read.h"

struct command_line {
	struct command_line *before;
	char *line, *exe; /* the arguments joined by blanks */
	unsigned argc;
	char *argv[];
};

/* Makes the present command line the first of `*list`, where each is once. 0; -ENOMEM, or -E2BIG
 * after hundreds of them, and no change. */
int command_line_load(struct command_line **list, const struct read_identity *id);
/* Frees it and all earlier ones. */
void command_line_free(struct command_line *c);

#endif
