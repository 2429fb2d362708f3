/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A copy-on-write copy of a stopped process, which is read while the process goes on. One of the
 * process's threads runs the library's stub (shm/copy.h), which forks. The copy never runs. It
 * ends when told to, or with the thread that made it. It is the process's child, so the process
 * must reap it (forked_copy.c). Only the thread that stopped the process.
 */
#ifndef SRC_LEAK_ACCESS_FORKED_COPY_H
#define SRC_LEAK_ACCESS_FORKED_COPY_H

#include "src/trace/stop.h"

struct leak_forked_copy {
	pid_t pid; /* 0: there is no copy */
	pid_t of; /* the process */
	pid_t tid; /* the process's thread that made it */
	uint64_t at; /* read_copy_at */
	uint64_t inner; /* `pid` as the process sees it */
};

/*
 * Makes a copy. NULL, or why not, in a few words (static). All threads stay stopped in either
 * case. *stuck: one thread could not be put back, and only the end of the thread that traces it
 * can resume it.
 */
const char *leak_forked_copy_make(
	struct trace_stop *stop, uint64_t at, struct leak_forked_copy *copy, bool *stuck);
/* The process goes on: unshares what the copy shares with it. False: the copy cannot be used. */
bool leak_forked_copy_settle(const struct leak_forked_copy *copy);
/* Whether the copy still exists: the kernel kills it first when memory is short. */
bool leak_forked_copy_alive(const struct leak_forked_copy *copy);
/*
 * Ends the copy, if there is one. False: a zombie child of the process stays, until the next
 * scan that stops the process, or until the process ends.
 */
bool leak_forked_copy_end(struct leak_forked_copy *copy);
/*
 * Has a stopped process reap a copy that a viewer left behind. True: there is none any more.
 * `stuck` as above.
 */
bool leak_forked_copy_tidy(struct trace_stop *stop, uint64_t at, bool *stuck);

#endif
