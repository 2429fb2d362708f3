/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What snapshots say of the program: its command line and its file, as clean text. Read when the
 * program is first seen, and once more when it has reported; none is freed before the session,
 * since snapshots point to it. Main thread.
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

/* Puts a new one in front of `*list`. 0 or -ENOMEM: then nothing has changed. */
int command_line_load(struct command_line **list, const struct read_identity *id);
/* Frees it and all before it. */
void command_line_free(struct command_line *c);

#endif
