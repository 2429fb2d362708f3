/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live blocks by a number (event_blocks.h). Any thread, on data of its own. */
#include "src/record/event_blocks.h"

#include <stdlib.h>

#include "src/util/array.h"

#define LOG2_FIRST 12u

static size_t home_of(const struct event_blocks *b, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> (64 - b->log2));
}

static size_t after(const struct event_blocks *b, size_t at)
{
	return (at + 1) & (((size_t)1 << b->log2) - 1);
}

void event_blocks_prefetch(const struct event_blocks *b, uint64_t key)
{
	const char *at;

	if (b->count == 0)
		return;
	at = (const char *)&b->table[home_of(b, key)];
	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + sizeof(*b->table), 1); /* the other half of one across two lines */
}

struct event_block *event_blocks_find(const struct event_blocks *b, uint64_t key)
{
	size_t at;

	if (b->count == 0 || key == 0)
		return NULL;
	for (at = home_of(b, key); b->table[at].key != 0; at = after(b, at))
		if (b->table[at].key == key)
			return &b->table[at];
	return NULL;
}

struct event_block *event_blocks_find_as(
	const struct event_blocks *b, uint64_t key, uint64_t size, uint32_t site)
{
	size_t at;

	if (b->count == 0 || key == 0)
		return NULL;
	for (at = home_of(b, key); b->table[at].key != 0; at = after(b, at))
		if (b->table[at].key == key && b->table[at].size == size &&
			b->table[at].site == site)
			return &b->table[at];
	return NULL;
}

static void put(struct event_blocks *b, const struct event_block *block)
{
	size_t at = home_of(b, block->key);

	while (b->table[at].key != 0)
		at = after(b, at);
	b->table[at] = *block;
}

static bool grow(struct event_blocks *b)
{
	struct event_blocks larger = { .log2 = b->table ? b->log2 + 1 : LOG2_FIRST };

	larger.table = array_large(calloc((size_t)1 << larger.log2, sizeof(*larger.table)),
		sizeof(*larger.table) << larger.log2);
	if (!larger.table)
		return false;
	for (size_t i = 0; b->table && i < (size_t)1 << b->log2; i++)
		if (b->table[i].key != 0)
			put(&larger, &b->table[i]);
	larger.count = b->count;
	free(b->table);
	*b = larger;
	return true;
}

bool event_blocks_add(struct event_blocks *b, const struct event_block *block)
{
	if ((!b->table || b->count >= ((size_t)1 << b->log2) / 2) && !grow(b))
		return false;
	put(b, block);
	b->count++;
	return true;
}

/* Moves later blocks of the same run up, so that none is behind a gap (Knuth, 6.4, algorithm R). */
void event_blocks_remove(struct event_blocks *b, struct event_block *block)
{
	size_t gap = (size_t)(block - b->table), at = gap;

	b->count--;
	for (;;) {
		size_t home;

		b->table[gap].key = 0;
		do {
			at = after(b, at);
			if (b->table[at].key == 0)
				return;
			home = home_of(b, b->table[at].key);
		} while (gap <= at ? gap < home && home <= at : gap < home || home <= at);
		b->table[gap] = b->table[at];
		gap = at;
	}
}

void event_blocks_free(struct event_blocks *b)
{
	free(b->table);
	*b = (struct event_blocks){ 0 };
}
