/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Saves one instant of a running process as a core file, with its segment. The process is stopped
 * while its segment is copied and while it is forked; the copy is written while it continues.
 * Where a copy must not be made, it is stopped until the file is complete.
 */
#ifndef SRC_LEAK_SAVE_H
#define SRC_LEAK_SAVE_H

#include "src/leak/access/access.h"

struct leak_saved {
	struct leak_access_report access;
	uint64_t bytes; /* size of the file */
	uint64_t unread_bytes; /* memory that could not be read */
};

/* Writes the empty file `fd`. 0, or -errno with one line in `message` (TRACE_MESSAGE_MAX). Any
 * thread. */
int leak_save(
	struct read_segment *segment, pid_t pid, int fd, struct leak_saved *out, char *message);

#endif
