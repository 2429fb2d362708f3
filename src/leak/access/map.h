/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One mapping of another process, and how a leak scan treats it. Pure; any thread. */
#ifndef SRC_LEAK_ACCESS_MAP_H
#define SRC_LEAK_ACCESS_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct leak_map {
	uint64_t start, end;
	bool readable, writable, executable, shared;
	uint64_t offset; /* in its file */
	dev_t device;
	uint64_t inode; /* 0: of no file */
	const char *path; /* "" when it has none */
	bool kept; /* its words were read before the process went on: uncopied.h */
};

/* Memory of a device: reading it may have effects. */
bool leak_map_is_device(const struct leak_map *m);
/* Part of a segment of heaptop's. */
bool leak_map_is_segment(const struct leak_map *m);
/* The same, of the segment whose file has the base name of `path`. */
bool leak_map_is_segment_of(const struct leak_map *m, const char *path);
/* Whether the program can keep pointers there. */
bool leak_map_holds_pointers(const struct leak_map *m);

#endif
