/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what a map (src/model/map.h) is made of, of a process that goes on running: smaps, pagemap,
 * the live table, and a few words of its memory that tell whose an area is. That takes from
 * milliseconds to a second for the largest processes, so the screen has it done by a thread, now
 * and then, while somebody looks. Main thread.
 */
#ifndef SRC_MAPPING_H
#define SRC_MAPPING_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/model/map.h"

#define MAPPING_EVERY_NS UINT64_C(5000000000) /* at most so often, and at most 1/50 of the time */

/*
 * A map of now; the caller owns one reference. One that could not be made has an account that says
 * why. `path`: of the segment; `pid` 0: it cannot be seen from here. NULL without memory.
 */
struct map *mapping_read(const char *path, pid_t pid);

struct mapping;
/* For the snapshots of one image, whose owner maps will have, too. NULL without memory. */
struct mapping *mapping_new(const char *path, pid_t pid, const void *owner);
/* Waits for a reading that is under way. */
void mapping_free(struct mapping *m);
bool mapping_is_of(const struct mapping *m, const char *path, const void *owner);
/* Asks for a new map, unless the newest is new enough or one is being made. */
void mapping_want(struct mapping *m);
/* Readable when one has come; mapping_collect takes it, true if it did. */
int mapping_fd(const struct mapping *m);
bool mapping_collect(struct mapping *m);
/* The newest, or NULL; valid until the next mapping_collect. */
struct map *mapping_newest(const struct mapping *m);

#endif
