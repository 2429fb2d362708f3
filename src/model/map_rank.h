/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of bytes by kind and call site, for the rows of a map (map.h). Pure. */
#ifndef SRC_MODEL_MAP_RANK_H
#define SRC_MODEL_MAP_RANK_H

#include <stddef.h>
#include <stdint.h>

#define MAP_RANK_KINDS 16u

struct map_rank {
	uint64_t key; /* map_rank_key */
	uint64_t bytes;
	unsigned rank; /* among those of the kind, from 0 on */
};

/* `kind`: below MAP_RANK_KINDS. `site`: below 2^60; an address, too. */
static inline uint64_t map_rank_key(unsigned kind, uint64_t site)
{
	return kind | site * MAP_RANK_KINDS;
}

static inline unsigned map_rank_kind(const struct map_rank *r)
{
	return r->key % MAP_RANK_KINDS;
}

/* Makes one item for each key, in their order. Returns the number of items. */
size_t map_rank_fold(struct map_rank *r, size_t count);
/* Sets the ranks of folded items, `most` for all beyond so many of a kind; their order stays. */
void map_rank_give(struct map_rank *r, size_t count, unsigned most);

#endif
