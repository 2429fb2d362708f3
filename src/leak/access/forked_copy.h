/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy-on-write copy of a process that stands still, to be read while the process goes on. One of
 * its threads runs the library's stub (shm/copy.h). The copy never runs; it is gone when it is
 * ended, or when the thread that made it ends. It is the process's child, which is why the process
 * must take note of its end (copy.c). Only the thread that stopped the process.
 */
#ifndef SRC_LEAK_ACCESS_FORKED_COPY_H
#define SRC_LEAK_ACCESS_FORKED_COPY_H

#include "src/leak/access/stop.h"

struct leak_forked_copy {
	pid_t pid; /* 0: there is none */
	pid_t of; /* the process */
	pid_t tid; /* its thread that made it */
	uint64_t at; /* read_copy_at */
	uint64_t inner; /* pid as the process sees it */
};

/*
 * Makes one. NULL, or why not, in a few words (static). All threads stand still in either case, as
 * before; *stuck: one of them does not, and only the end of the thread that traces it can let it
 * go.
 */
const char *leak_forked_copy_make(
	struct leak_stop *stop, uint64_t at, struct leak_forked_copy *copy, bool *stuck);
/* The process goes on: takes from the copy what that shares with it. False: it cannot be used. */
bool leak_forked_copy_settle(const struct leak_forked_copy *copy);
/* Whether it is still there: the kernel takes it first when memory is short. */
bool leak_forked_copy_alive(const struct leak_forked_copy *copy);
/*
 * Ends it, if there is one. False: it stays a zombie child of the process, until the next scan that
 * stops the process or until that ends.
 */
bool leak_forked_copy_end(struct leak_forked_copy *copy);
/*
 * Has a process that stands still take note of the end of a copy that a viewer left behind. True:
 * there is none any more. `stuck` as above.
 */
bool leak_forked_copy_tidy(struct leak_stop *stop, uint64_t at, bool *stuck);

#endif
