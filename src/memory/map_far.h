/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps of a process on another machine, which its agent reads. Main thread. */
#ifndef SRC_MEMORY_MAP_FAR_H
#define SRC_MEMORY_MAP_FAR_H

#include "src/far/order.h"
#include "src/model/map.h"

/* Asks for a map. 0 or -errno. */
int map_far_begin(const struct far_order *f);
/* True: it has ended, and `*map` is what came or says why there is none (NULL: no memory). */
bool map_far_take(const struct far_order *f, int timeout_ms, struct map **map);
/* Waits for a map: as map_reader_read. */
struct map *map_far_read(const struct far_order *f);

#endif
