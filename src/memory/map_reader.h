/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads what a map (src/model/map.h) is made of, of a process that goes on running: smaps, pagemap,
 * the live table, and a few words of its memory that tell whose an area is. That takes from
 * milliseconds to a second for the largest processes, so the screen has it done by a thread, now
 * and then, while somebody looks. Main thread.
 */
#ifndef SRC_MEMORY_MAP_READER_H
#define SRC_MEMORY_MAP_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/model/map.h"

/* The screen has the first ones sooner one after the other: what was just started still grows. */
#define MAP_READER_FIRST_NS UINT64_C(1000000000)
#define MAP_READER_EVERY_NS UINT64_C(5000000000)
/* However long one takes: what is older would be taken for what is. */
#define MAP_READER_MOST_NS UINT64_C(10000000000)

/*
 * A map of now; the caller owns one reference. One that could not be made has an account that says
 * why. `path`: of the segment; `pid` 0: it cannot be seen from here; `before`: the account of an
 * earlier map of that segment, or NULL. NULL without memory.
 */
struct map *map_reader_read(const char *path, pid_t pid, const struct map_account *before);
/*
 * From the beginning of a reading that began `ago_ns` ago to the next one's: `least_ns`, or ten
 * times what it took of a processor, or MAP_READER_MOST_NS, but never before now and that time
 * again. What it took of the clock says more of how busy the machine is.
 */
uint64_t map_reader_every_ns(const struct map_account *a, uint64_t least_ns, uint64_t ago_ns);

struct map_reader;
/* For the snapshots of one image, whose owner maps will have, too. NULL without memory. */
struct map_reader *map_reader_new(const char *path, pid_t pid, const void *owner);
/* Waits for a reading that is under way. */
void map_reader_free(struct map_reader *m);
bool map_reader_is_of(const struct map_reader *m, const char *path, const void *owner);
/* Asks for a new map, unless the newest is new enough (again_ns) or one is being made. */
void map_reader_want(struct map_reader *m);
/* Readable when one has come; map_reader_collect takes it, true if it did. */
int map_reader_fd(const struct map_reader *m);
bool map_reader_collect(struct map_reader *m);
/* The newest, or NULL; valid until the next map_reader_collect. */
struct map *map_reader_newest(const struct map_reader *m);

#endif
