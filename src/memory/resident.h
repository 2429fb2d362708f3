/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the resident memory of a program is, for its report: read now and then while it runs, since
 * at its end there is nothing to read any more. Main thread.
 */
#ifndef SRC_MEMORY_RESIDENT_H
#define SRC_MEMORY_RESIDENT_H

#include <sys/types.h>

#include "src/model/map.h"

struct resident {
	struct map_account account; /* of the last reading */
	char *path; /* the segment of the image that it is of; NULL: there was none */
	uint64_t due_ns; /* the next one; 0: as soon as one is asked for */
};

/* The first reading is to come when there is something to see: the program started at that time. */
void resident_start(struct resident *r, uint64_t started_ns);
/* Reads, if it is time: the image that has its segment at `path`. */
void resident_look(struct resident *r, const char *path, pid_t pid);
/* The same before its time, where that takes no longer than nobody would notice: the program is
 * about to end. */
void resident_look_last(struct resident *r, const char *path, pid_t pid);
/* The last reading if it is of that image: sites of another mean nothing there. Or NULL. */
const struct map_account *resident_last(const struct resident *r, const char *path);
void resident_free(struct resident *r);

#endif
