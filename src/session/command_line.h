/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's command line and executable as clean text, for snapshots. Read when the session
 * opens, and once more when the library has reported. Snapshots point to each version, so none is
 * freed before the session. Main thread.
 */
#ifndef SRC_SESSION_COMMAND_LINE_H
#define SRC_SESSION_COMMAND_LINE_H

#include "src/read/read.h"

struct command_line {
	struct command_line *before;
	char *line, *exe; /* the arguments joined by blanks */
	unsigned argc;
	char *argv[HT_COMMAND_MAX];
};

/* Prepends the present command line to `*list`. 0, or -ENOMEM and no change. */
int command_line_load(struct command_line **list, const struct read_identity *id);
/* Frees it and all earlier ones. */
void command_line_free(struct command_line *c);

#endif
