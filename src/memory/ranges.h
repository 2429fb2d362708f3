/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorded mappings in the form that a map takes. Any thread; no other thread may use the
 * segment. */
#ifndef SRC_MEMORY_RANGES_H
#define SRC_MEMORY_RANGES_H

#include "src/model/map.h"
#include "src/read/read.h"

/* By address, without those whose site is not below `sites`. 0 or -errno; the caller frees *out. */
int ranges_read(
	struct read_segment *s, uint32_t sites, const struct map_range **out, size_t *count);

#endif
