/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorded mappings as a map takes them: lists of ranges by address that do not overlap. Any
 * thread; the segment is the caller's alone. The caller frees what it gets.
 */
#ifndef SRC_MEMORY_MAP_RANGES_H
#define SRC_MEMORY_MAP_RANGES_H

#include "src/model/map.h"
#include "src/read/read.h"

struct map_ranges {
	struct map_range *range;
	size_t count;
};

/* Those of a segment, without those whose site is not below `sites`. 0 or -errno. */
int map_ranges_read(struct read_segment *s, uint32_t sites, struct map_ranges *out);
/* Takes away what a forked child has unmapped of the memory that it had from its parent; all, if
 * that is not known. 0 or -errno. */
int map_ranges_unmapped(
	struct read_segment *s, const struct map_ranges *in, struct map_ranges *out);
/* All of `above`, and of `below` what lies in none of them. 0 or -ENOMEM. */
int map_ranges_merge(
	const struct map_ranges *above, const struct map_ranges *below, struct map_ranges *out);
/* Frees the list, not `r`. */
void map_ranges_free(struct map_ranges *r);

#endif
