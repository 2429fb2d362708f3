/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that are live now, found by a number that is never 0: their address, or their number. Any
 * thread, on data of its own. */
#ifndef SRC_RECORD_EVENT_BLOCKS_H
#define SRC_RECORD_EVENT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_block {
	uint64_t key; /* 0: free */
	uint64_t number, size, tick;
	uint32_t site, slot;
};

/* A hash with linear probing. All zeros: empty. */
struct event_blocks {
	struct event_block *table; /* 1 << log2 of them */
	unsigned log2;
	size_t count;
};

/* Tells the processor that the key is looked up soon. In a large table each look-up is a cache
 * miss. */
void event_blocks_prefetch(const struct event_blocks *b, uint64_t key);
/* NULL: there is none. Valid until the next change. */
struct event_block *event_blocks_find(const struct event_blocks *b, uint64_t key);
/* One of that key, size and site. */
struct event_block *event_blocks_find_as(
	const struct event_blocks *b, uint64_t key, uint64_t size, uint32_t site);
/* Adds a block, beside others of its key. False: no memory. */
bool event_blocks_add(struct event_blocks *b, const struct event_block *block);
/* Removes what event_blocks_find returned. */
void event_blocks_remove(struct event_blocks *b, struct event_block *block);
void event_blocks_free(struct event_blocks *b);

#endif
