/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps as bytes, between an agent that reads one and the desk that shows it. Pure. */
#ifndef SRC_MEMORY_MAP_BYTES_H
#define SRC_MEMORY_MAP_BYTES_H

#include "src/model/map.h"
#include "src/util/bytes.h"

/* Its rows are in the order of map_rows_make, which map_bytes_get calls. */
void map_bytes_put(struct bytes *b, const struct map *m);
/* What was put, checked: a reference for the caller. NULL: these bytes are no map, or there is no
 * memory for it. */
struct map *map_bytes_get(struct bytes_cursor *c);

#endif
