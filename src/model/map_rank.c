/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of bytes by kind and call site (map_rank.h). Pure. */
#include "src/model/map_rank.h"

#include <stdlib.h>

static int key_order(const void *pa, const void *pb)
{
	const struct map_rank *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

static int bytes_order(const void *pa, const void *pb)
{
	const struct map_rank *a = pa, *b = pb;

	return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : key_order(pa, pb);
}

size_t map_rank_fold(struct map_rank *r, size_t count)
{
	size_t kept = 0;

	qsort(r, count, sizeof(*r), key_order);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && r[kept - 1].key == r[i].key)
			r[kept - 1].bytes += r[i].bytes;
		else
			r[kept++] = r[i];
	}
	return kept;
}

void map_rank_give(struct map_rank *r, size_t count, unsigned most)
{
	unsigned rank[MAP_RANK_KINDS] = { 0 };

	qsort(r, count, sizeof(*r), bytes_order);
	for (size_t i = 0; i < count; i++) {
		unsigned *next = &rank[map_rank_kind(&r[i])];

		r[i].rank = *next;
		*next += *next < most;
	}
	qsort(r, count, sizeof(*r), key_order);
}
