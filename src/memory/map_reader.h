/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the parts of a map (src/model/map.h) from a running process: smaps, pagemap, the live
 * table, and a few words of its memory that identify the owner of an area. A reading takes
 * milliseconds, or a second for the largest processes, so a thread makes it, and only while a view
 * shows the map. Main thread.
 */
#ifndef SRC_MEMORY_MAP_READER_H
#define SRC_MEMORY_MAP_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/core/core.h"
#include "src/far/order.h"
#include "src/memory/map_ranges.h"
#include "src/model/map.h"

/* The screen spaces its first readings more closely: a program that just started still grows. */
#define MAP_READER_FIRST_NS UINT64_C(1000000000)
#define MAP_READER_EVERY_NS UINT64_C(5000000000)
/* However long a reading takes: an older map would be mistaken for the present state. */
#define MAP_READER_MOST_NS UINT64_C(10000000000)

/* What a map is made of. */
struct map_reader_of {
	const char *path; /* of the segment */
	pid_t pid; /* 0: the process is not visible from here */
	const struct core *core; /* its core file, which is read instead; NULL: it runs */
	const struct map_ranges *inherited; /* a forked child's; lives as long as any reading */
	/* It is on another machine, whose agent reads it: no thread of ours does. NULL: here. */
	const struct far_order *far;
};

/*
 * Makes a map; the caller owns one reference. On failure its account gives the reason. `before`:
 * the account of an earlier map of that segment, or NULL. NULL: out of memory.
 */
struct map *map_reader_read(const struct map_reader_of *of, const struct map_account *before);
/*
 * The interval from the start of a reading, which was `ago_ns` ago, to the start of the next: at
 * least `least_ns`, else ten times its processor time, at most MAP_READER_MOST_NS, and never ending
 * before that processor time has passed again. Elapsed time would measure the load of the machine.
 */
uint64_t map_reader_every_ns(const struct map_account *a, uint64_t least_ns, uint64_t ago_ns);

struct map_reader;
/* For the snapshots of one image; maps keep a reference to their owner. NULL: out of memory. */
struct map_reader *map_reader_new(const struct map_reader_of *of, const void *owner);
/* Waits for a reading in progress. */
void map_reader_free(struct map_reader *m);
bool map_reader_is_of(const struct map_reader *m, const char *path, const void *owner);
/* Requests a new map, unless the newest is recent enough (again_ns) or one is in progress. */
void map_reader_want(struct map_reader *m);
/* Readable when one has come; map_reader_collect takes it, true if it did. */
int map_reader_fd(const struct map_reader *m);
bool map_reader_collect(struct map_reader *m);
/* The newest, or NULL; valid until the next map_reader_collect. */
struct map *map_reader_newest(const struct map_reader *m);

#endif
