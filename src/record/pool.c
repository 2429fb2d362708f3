/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Byte strings, each kept once (pool.h). An open hash table of their numbers. */
#include "src/record/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

#define FIRST_SLOTS 256u

static uint64_t hash_of(const uint8_t *key, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u, word;

	for (; len >= 8; key += 8, len -= 8) {
		memcpy(&word, key, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	for (; len > 0; len--)
		h = (h ^ *key++) * 0x100000001b3u;
	return h ^ h >> 32;
}

static const uint8_t *key_of(const struct pool *p, uint32_t i, size_t *len)
{
	size_t from = i ? p->end[i - 1] : 0;

	*len = p->end[i] - from;
	return p->keys.data + from;
}

/* The slot that has the key, or the empty one where it goes. */
static size_t slot_of(const struct pool *p, const void *key, size_t len)
{
	size_t at = hash_of(key, len) & (p->slots - 1), other_len;

	while (p->slot[at]) {
		const uint8_t *other = key_of(p, p->slot[at] - 1, &other_len);

		if (other_len == len && (len == 0 || memcmp(other, key, len) == 0))
			break;
		at = (at + 1) & (p->slots - 1);
	}
	return at;
}

static int slots_grow(struct pool *p)
{
	size_t slots = p->slots ? p->slots * 2 : FIRST_SLOTS, len;
	uint32_t *slot;

	if (p->count * 2ull < p->slots)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(p->slot);
	p->slot = slot;
	p->slots = slots;
	for (uint32_t i = 0; i < p->count; i++) {
		const uint8_t *key = key_of(p, i, &len);

		p->slot[slot_of(p, key, len)] = i + 1;
	}
	return 0;
}

long pool_add(struct pool *p, const void *key, size_t len)
{
	size_t at, *end;

	if (slots_grow(p) != 0)
		return -ENOMEM;
	at = slot_of(p, key, len);
	if (p->slot[at])
		return (long)p->slot[at] - 1;
	end = array_grow(p->end, p->count, &p->end_room, sizeof(*end));
	if (!end)
		return -ENOMEM;
	p->end = end;
	bytes_add(&p->keys, key, len);
	if (p->keys.failed) {
		p->keys.failed = false;
		return -ENOMEM;
	}
	end[p->count] = p->keys.len;
	p->slot[at] = ++p->count;
	return (long)p->count - 1;
}

long pool_find(const struct pool *p, const void *key, size_t len)
{
	size_t at = p->slots ? slot_of(p, key, len) : 0;

	return p->slots && p->slot[at] ? (long)p->slot[at] - 1 : -ENOENT;
}

size_t pool_bytes(const struct pool *p)
{
	return p->keys.cap + p->end_room * sizeof(*p->end) + p->slots * sizeof(*p->slot);
}

void pool_free(struct pool *p)
{
	bytes_free(&p->keys);
	free(p->end);
	free(p->slot);
	*p = (struct pool){ 0 };
}
