/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the memory of one instant, its threads and its account as a core file. One thread. */
#ifndef SRC_LEAK_CORE_WRITE_H
#define SRC_LEAK_CORE_WRITE_H

#include "src/core/account.h"
#include "src/leak/access/space.h"
#include "src/trace/stop.h"

/* What goes into the file beside the memory. */
struct leak_core {
	pid_t pid; /* as the program sees itself */
	const char *command; /* the program's name */
	const struct trace_stop *stop;
	const char *maps; /* the text of /proc/PID/maps */
	size_t maps_bytes;
	const void *auxv;
	size_t auxv_bytes;
	uint64_t segment_bytes; /* size of the segment's file */
	const struct core_account_part *part; /* its parts that hold something, */
	uint64_t parts;
	const void *account; /* and the bytes of all of them */
	uint64_t account_bytes;
};

/*
 * Writes the empty file `fd`: memory that was never touched takes no room in it. `s` is open.
 * *bytes: its size. 0 or -errno.
 */
int leak_core_write(int fd, const struct leak_core *c, struct leak_space *s, uint64_t *bytes);

#endif
