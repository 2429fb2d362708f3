/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers for distinct byte strings (numbering.h): an open-addressed table over one array of keys.
 */
#include "src/util/numbering.h"

#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

#define FIRST_SLOTS 256u

struct numbering_key {
	size_t at, len; /* in `bytes` */
	uint64_t hash;
};

void numbering_free(struct numbering *n)
{
	strbuf_free(&n->bytes);
	free(n->key);
	free(n->slot);
	*n = (struct numbering){ 0 };
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0x9fb21c651e98df25);
	return h ^ h >> 28;
}

/* Eight bytes a step: keys are often names of a hundred bytes. */
static uint64_t hash_of(const unsigned char *p, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15), word = 0;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = mix(h ^ word);
	}
	word = 0;
	memcpy(&word, p, len);
	return mix(mix(h ^ word));
}

static uint32_t *slot_find(const struct numbering *n, const void *key, size_t len, uint64_t hash)
{
	uint32_t mask = n->slots - 1;

	for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
		const struct numbering_key *k;

		if (n->slot[i] == 0)
			return &n->slot[i];
		k = &n->key[n->slot[i] - 1];
		if (k->hash == hash && k->len == len && !memcmp(n->bytes.data + k->at, key, len))
			return &n->slot[i];
	}
}

/* Keeps the table at most half full. */
static bool slots_grow(struct numbering *n)
{
	uint32_t slots = n->slots ? n->slots * 2 : FIRST_SLOTS, *slot;

	if (n->count < n->slots / 2)
		return true;
	slot = slots ? calloc(slots, sizeof(*slot)) : NULL;
	if (!slot)
		return false;
	free(n->slot);
	n->slot = slot;
	n->slots = slots;
	for (uint32_t i = 0; i < n->count; i++) {
		uint32_t at = (uint32_t)n->key[i].hash & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	return true;
}

static bool key_append(struct numbering *n, const void *key, size_t len, uint64_t hash)
{
	struct numbering_key *keys = array_grow(n->key, n->count, &n->capacity, sizeof(*n->key));

	if (!keys)
		return false;
	n->key = keys;
	keys[n->count] = (struct numbering_key){ .at = n->bytes.len, .len = len, .hash = hash };
	strbuf_add(&n->bytes, key, len);
	return !n->bytes.failed;
}

uint32_t numbering_add(struct numbering *n, const void *key, size_t len, bool *is_new)
{
	uint64_t hash = hash_of(key, len);
	uint32_t *slot;

	if (is_new)
		*is_new = false;
	if (n->failed || !slots_grow(n)) {
		n->failed = true;
		return 0;
	}
	slot = slot_find(n, key, len, hash);
	if (*slot)
		return *slot - 1;
	if (!key_append(n, key, len, hash)) {
		n->failed = true;
		return 0;
	}
	*slot = ++n->count;
	if (is_new)
		*is_new = true;
	return n->count - 1;
}

bool numbering_find(const struct numbering *n, const void *key, size_t len, uint32_t *number)
{
	uint32_t found = n->slots ? *slot_find(n, key, len, hash_of(key, len)) : 0;

	*number = found - 1;
	return found != 0;
}

const char *numbering_key(const struct numbering *n, uint32_t number, size_t *len)
{
	if (len)
		*len = n->key[number].len;
	return n->bytes.data + n->key[number].at;
}
