/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Byte strings, each kept once and numbered from 0 in the order in which they came. Any thread, on
 * data of its own. */
#ifndef SRC_RECORD_POOL_H
#define SRC_RECORD_POOL_H

#include "src/record/bytes.h"

/* All zeros: empty. */
struct pool {
	struct bytes keys; /* one after the other */
	size_t *end; /* owned; of each key */
	uint32_t *slot; /* owned; hash table of numbers + 1 */
	size_t end_room, slots; /* slots: a power of two */
	uint32_t count;
};

/* The number of a key, which is added if it is new: then it is the last one. -ENOMEM. */
long pool_add(struct pool *p, const void *key, size_t len);
/* The number of a key, or -ENOENT. */
long pool_find(const struct pool *p, const void *key, size_t len);
size_t pool_bytes(const struct pool *p);
void pool_free(struct pool *p);

#endif
