/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heap of a process that is watched from outside: what glibc's malloc has in use, by size,
 * read from time to time while the process runs. The process is neither stopped nor changed. A
 * separate thread reads it, since a large heap takes seconds.
 */
#ifndef SRC_RUN_OUTSIDE_H
#define SRC_RUN_OUTSIDE_H

#include <sys/types.h>

struct outside;

/* Reads it once, unless that takes long, and from then on again. `path`: the segment that shows it,
 * which no process writes. NULL: it cannot be read, and the segment stays empty. */
struct outside *outside_start(const char *path, pid_t pid);
/* outside_stop(NULL) is fine. Waits for the reading in progress. */
void outside_stop(struct outside *o);

#endif
