/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An arena of blocks and a hash set of the texts in it. Called by the resolver on the symboliser's
 * worker thread; nothing is ever moved or freed before intern_free.
 */
#include "src/util/intern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Large enough that a program's names fit in some dozens of blocks, small enough to waste little.
 */
#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT   _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

struct text {
	uint32_t hash;
	uint32_t len;
	char bytes[];
};

struct intern {
	struct block *blocks; /* the one being filled comes first */
	struct text **slots; /* open addressing, power of two, at most half full */
	size_t nslots, count;
};

struct intern *intern_new(void)
{
	return calloc(1, sizeof(struct intern));
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	while (in->blocks) {
		struct block *b = in->blocks;
		in->blocks = b->next;
		free(b);
	}
	free(in->slots);
	free(in);
}

static struct block *block_add(struct intern *in, size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
	struct block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		return NULL;
	b->size = size;
	if (size != BLOCK_BYTES && in->blocks) {
		/* A large object gets a block of its own, placed after the one being filled. */
		b->next = in->blocks->next;
		in->blocks->next = b;
	} else {
		b->next = in->blocks;
		in->blocks = b;
	}
	return b;
}

void *intern_alloc(struct intern *in, size_t bytes)
{
	struct block *b = in->blocks;
	void *p;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (!b || b->size - b->used < bytes)
		b = block_add(in, bytes);
	if (!b)
		return NULL;
	p = b->data + b->used;
	b->used += bytes;
	return p;
}

static uint32_t hash_of(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

/* The slot that holds this text, or the empty one where it belongs. */
static struct text **slot_find(struct intern *in, uint32_t hash, const char *text, size_t len)
{
	size_t i = hash & (in->nslots - 1);

	for (;; i = (i + 1) & (in->nslots - 1)) {
		struct text *t = in->slots[i];

		if (!t || (t->hash == hash && t->len == len && !memcmp(t->bytes, text, len)))
			return &in->slots[i];
	}
}

static bool slots_grow(struct intern *in)
{
	size_t n = in->nslots ? in->nslots * 2 : 1024, old_n = in->nslots;
	struct text **old = in->slots, **slots = calloc(n, sizeof(struct text *));

	if (!slots)
		return false;
	in->slots = slots;
	in->nslots = n;
	for (size_t i = 0; i < old_n; i++) {
		if (old[i])
			*slot_find(in, old[i]->hash, old[i]->bytes, old[i]->len) = old[i];
	}
	free(old);
	return true;
}

const char *intern_text(struct intern *in, const char *text, size_t len)
{
	uint32_t hash = hash_of(text, len);
	struct text **slot, *t;

	if (len >= UINT32_MAX || (in->count * 2 >= in->nslots && !slots_grow(in)))
		return NULL;
	slot = slot_find(in, hash, text, len);
	if (*slot)
		return (*slot)->bytes;
	t = intern_alloc(in, sizeof(*t) + len + 1);
	if (!t)
		return NULL;
	t->hash = hash;
	t->len = (uint32_t)len;
	memcpy(t->bytes, text, len);
	t->bytes[len] = '\0';
	*slot = t;
	in->count++;
	return t->bytes;
}

size_t intern_count(const struct intern *in)
{
	return in->count;
}
