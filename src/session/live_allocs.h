/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The allocations of a program and of each of its call sites, read with a walk over its live
 * blocks: what an agent's walk is compared with, since it arrives some ticks later. Any thread, on
 * data of its own.
 */
#ifndef SRC_SESSION_LIVE_ALLOCS_H
#define SRC_SESSION_LIVE_ALLOCS_H

#include "src/read/read.h"
#include "src/util/bytes.h"

/* All zeros: empty. */
struct live_allocs {
	uint64_t all;
	uint64_t *site; /* owned, by id */
	uint32_t sites;
};

/* Costs a pass over all counters. 0 or -errno. */
int live_allocs_read(struct live_allocs *a, struct read_segment *s);
void live_allocs_put(struct bytes *b, const struct live_allocs *a);
/* All that is in a copy of the cursor. 0, -EPROTO or -ENOMEM: then it is empty. */
int live_allocs_get(struct bytes_cursor c, struct live_allocs *out);
/* 0 for a site that was not there yet. */
uint64_t live_allocs_of(const struct live_allocs *a, uint32_t site);
void live_allocs_free(struct live_allocs *a);

#endif
