/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of a leak scan (blocks.h). */
#include "src/leak/analysis/blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

#include "src/util/sorted.h"

#define GRANULE_SHIFT 9u /* 512 bytes: at most 32 blocks to search, and 0.8 % of the heap */
/* Blocks further apart belong to different clusters: an index of the gap would cost more than one
 * more step of the search. */
#define GAP_BYTES (1u << 20)
/* A larger block needs no index, and its index would be large. */
#define LARGE_BYTES (1u << 20)

int leak_blocks_reserve(struct leak_blocks *b, uint64_t count)
{
	uint32_t capacity = count < LEAK_BLOCKS_MAX ? (uint32_t)count : LEAK_BLOCKS_MAX;
	void *p;

	if (capacity <= b->capacity)
		return 0;
	p = realloc(b->block, capacity * sizeof(*b->block));
	if (!p)
		return -ENOMEM;
	b->block = array_large(p, capacity * sizeof(*b->block));
	b->capacity = capacity;
	return 0;
}

int leak_blocks_add(struct leak_blocks *b, const struct leak_block *block)
{
	if (b->count == b->capacity) {
		if (b->capacity >= LEAK_BLOCKS_MAX)
			return -E2BIG;
		if (leak_blocks_reserve(b, b->capacity ? b->capacity * 2ull : 4096) != 0)
			return -ENOMEM;
	}
	b->block[b->count++] = *block;
	return 0;
}

/* ---- sorting ---- */

/* The end of the ascending run that begins at `from`. */
static uint32_t run_end(const struct leak_block *b, uint32_t from, uint32_t count)
{
	uint32_t i = from + 1;

	while (i < count && b[i - 1].addr <= b[i].addr)
		i++;
	return i < count ? i : count;
}

static void merge(struct leak_block *out, const struct leak_block *a, uint32_t na,
	const struct leak_block *b, uint32_t nb)
{
	while (na > 0 && nb > 0) {
		if (b->addr < a->addr) {
			*out++ = *b++;
			nb--;
		} else {
			*out++ = *a++;
			na--;
		}
	}
	memcpy(out, na > 0 ? a : b, (na + nb) * sizeof(*out));
}

/* Merges neighbouring runs of `from` into `to`. Returns how many runs there were. */
static uint32_t merge_pass(struct leak_block *to, const struct leak_block *from, uint32_t count)
{
	uint32_t runs = 0, at = 0;

	while (at < count) {
		uint32_t middle = run_end(from, at, count);
		uint32_t end = middle < count ? run_end(from, middle, count) : count;

		merge(to + at, from + at, middle - at, from + middle, end - middle);
		runs += 1 + (middle < end);
		at = end;
	}
	return runs;
}

/* The live table has some hundreds of ascending runs at most, so merging beats qsort. */
static int blocks_sort(struct leak_blocks *b)
{
	struct leak_block *other, *from = b->block, *to;

	if (run_end(from, 0, b->count) == b->count)
		return 0;
	other = array_large(malloc(b->capacity * sizeof(*other)), b->capacity * sizeof(*other));
	if (!other)
		return -ENOMEM;
	to = other;
	while (merge_pass(to, from, b->count) > 2) {
		struct leak_block *swap = from;

		from = to;
		to = swap;
	}
	free(from);
	b->block = to;
	return 0;
}

/* Keeps the last one of each address. */
static void duplicates_drop(struct leak_blocks *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		if (kept > 0 && b->block[kept - 1].addr == b->block[i].addr)
			kept--;
		b->block[kept++] = b->block[i];
	}
	b->count = kept;
}

static uint64_t block_end(const struct leak_block *b)
{
	uint64_t end;

	if (__builtin_add_overflow(b->addr, b->size ? b->size : 1, &end))
		end = UINT64_MAX;
	return end;
}

/* ---- filling gaps ---- */

/* Joins blocks of one address, with the largest size. */
static void unsure_join(struct leak_blocks *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		struct leak_block *last = kept > 0 ? &b->block[kept - 1] : NULL;

		if (!last || last->addr != b->block[i].addr)
			b->block[kept++] = b->block[i];
		else if (last->size < b->block[i].size)
			last->size = b->block[i].size;
	}
	b->count = kept;
}

/* Adds those that begin in no block. Both are sorted; `b` is not afterwards. */
static int gaps_fill(struct leak_blocks *b, const struct leak_blocks *unsure)
{
	uint32_t known = b->count, at = 0;
	uint64_t end = 0; /* of the blocks before */

	for (uint32_t i = 0; i < unsure->count; i++) {
		struct leak_block u = unsure->block[i];

		for (; at < known && b->block[at].addr < u.addr; at++)
			end = block_end(&b->block[at]);
		if (at < known && b->block[at].addr == u.addr) {
			if (b->block[at].size < u.size)
				b->block[at].size = u.size;
			continue;
		}
		u.birth = LEAK_BIRTH_UNSURE;
		if (u.addr >= end && leak_blocks_add(b, &u) != 0)
			return -ENOMEM;
	}
	return 0;
}

static void overlaps_cut(struct leak_blocks *b)
{
	for (uint32_t i = 1; i < b->count; i++)
		if (b->block[i - 1].size > b->block[i].addr - b->block[i - 1].addr)
			b->block[i - 1].size = b->block[i].addr - b->block[i - 1].addr;
}

int leak_blocks_fill(struct leak_blocks *b, struct leak_blocks *unsure)
{
	int rc = unsure->count > 0 ? blocks_sort(unsure) : 0;

	if (rc == 0 && b->count > 0)
		rc = blocks_sort(b);
	if (rc != 0)
		return rc;
	unsure_join(unsure);
	duplicates_drop(b);
	rc = gaps_fill(b, unsure);
	if (rc == 0 && b->count > 0)
		rc = blocks_sort(b);
	overlaps_cut(b);
	return rc;
}

/* ---- the index ---- */

/* Whether a cluster that ends at `end` goes on with `next`. */
static bool is_near(uint64_t end, const struct leak_block *last, const struct leak_block *next)
{
	return last->size < LARGE_BYTES && next->size < LARGE_BYTES &&
	       (next->addr < end || next->addr - end < GAP_BYTES);
}

/* Fills in the cluster that begins with block `first`; returns the block after it. */
static uint32_t cluster_measure(const struct leak_blocks *b, uint32_t first, struct leak_cluster *c)
{
	uint64_t end = block_end(&b->block[first]);
	uint32_t i = first + 1;

	for (; i < b->count && is_near(end, &b->block[i - 1], &b->block[i]); i++)
		if (block_end(&b->block[i]) > end)
			end = block_end(&b->block[i]);
	*c = (struct leak_cluster){
		.start = b->block[first].addr, .end = end, .first = first, .count = i - first
	};
	return i;
}

static int index_make(const struct leak_blocks *b, struct leak_cluster *c)
{
	uint64_t granules = ((c->end - c->start) >> GRANULE_SHIFT) + 2, g = 0;

	if (c->count == 1)
		return 0;
	c->index = array_large(malloc(granules * sizeof(*c->index)), granules * sizeof(*c->index));
	if (!c->index)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->count; i++) {
		uint64_t at = (b->block[c->first + i].addr - c->start) >> GRANULE_SHIFT;

		while (g <= at)
			c->index[g++] = c->first + i;
	}
	while (g < granules)
		c->index[g++] = c->first + c->count;
	return 0;
}

static int clusters_make(struct leak_blocks *b)
{
	struct leak_cluster c;
	uint32_t capacity = 0;
	int rc = 0;

	for (uint32_t first = 0; rc == 0 && first < b->count;) {
		if (b->clusters == capacity) {
			void *p;

			capacity = capacity ? capacity * 2 : 64;
			p = realloc(b->cluster, capacity * sizeof(*b->cluster));
			if (!p)
				return -ENOMEM;
			b->cluster = p;
		}
		first = cluster_measure(b, first, &c);
		rc = index_make(b, &c);
		b->cluster[b->clusters++] = c;
	}
	return rc;
}

static void index_free(struct leak_blocks *b)
{
	for (uint32_t i = 0; i < b->clusters; i++)
		free(b->cluster[i].index);
	free(b->cluster);
	b->cluster = NULL;
	b->clusters = 0;
	b->lowest = b->span = 0;
}

/* Indexes sorted blocks. */
static int all_index(struct leak_blocks *b)
{
	int rc = b->count > 0 ? clusters_make(b) : 0;

	if (rc != 0 || b->count == 0)
		return rc;
	b->lowest = b->cluster[0].start;
	for (uint32_t i = 0; i < b->clusters; i++)
		if (b->cluster[i].end - b->lowest > b->span)
			b->span = b->cluster[i].end - b->lowest;
	return 0;
}

int leak_blocks_finish(struct leak_blocks *b)
{
	int rc = b->count > 0 ? blocks_sort(b) : 0;

	if (rc != 0)
		return rc;
	duplicates_drop(b);
	return all_index(b);
}

/* ---- patching ---- */

static int range_compare(const void *a, const void *b)
{
	const struct leak_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Drops the blocks of `parts`. */
static void parts_forget(struct leak_blocks *b, const struct leak_range *parts, size_t count)
{
	uint32_t kept = 0, at = 0;

	for (size_t i = 0; i <= count; i++) {
		uint32_t end = i < count ? leak_blocks_from(b, parts[i].start) : b->count;

		if (end > at) {
			if (kept != at)
				memmove(b->block + kept, b->block + at,
					(end - at) * sizeof(*b->block));
			kept += end - at;
			at = end;
		}
		if (i < count && (end = leak_blocks_from(b, parts[i].end)) > at)
			at = end;
	}
	b->count = kept;
}

/* Merges from the end, where memory is reserved. At equal addresses, the fresh block comes last. */
static void fresh_join(struct leak_blocks *b, const struct leak_blocks *fresh)
{
	uint32_t old = b->count, i = fresh->count;

	b->count += fresh->count;
	while (i > 0)
		if (old > 0 && b->block[old - 1].addr > fresh->block[i - 1].addr) {
			b->block[old + i - 1] = b->block[old - 1];
			old--;
		} else {
			b->block[old + i - 1] = fresh->block[i - 1];
			i--;
		}
}

int leak_blocks_patch(
	struct leak_blocks *b, struct leak_range *parts, size_t count, struct leak_blocks *fresh)
{
	uint64_t all = (uint64_t)b->count + fresh->count;
	int rc = all <= LEAK_BLOCKS_MAX ? leak_blocks_reserve(b, all) : -E2BIG;

	if (count == 0 && fresh->count == 0)
		return 0;
	if (rc == 0 && fresh->count > 0)
		rc = blocks_sort(fresh);
	if (rc != 0)
		return rc;
	index_free(b);
	if (count > 0)
		qsort(parts, count, sizeof(*parts), range_compare);
	parts_forget(b, parts, count);
	fresh_join(b, fresh);
	duplicates_drop(b);
	return all_index(b);
}

/* ---- looking up ---- */

/* The last cluster that starts at `word` or before; there is one. */
static const struct leak_cluster *cluster_find(const struct leak_blocks *b, uint64_t word)
{
	uint32_t low = 0, high = b->clusters;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (b->cluster[middle].start <= word)
			low = middle;
		else
			high = middle;
	}
	return &b->cluster[low];
}

uint32_t leak_blocks_find(const struct leak_blocks *b, uint64_t word)
{
	const struct leak_cluster *c;
	uint32_t i;

	if (word - b->lowest >= b->span)
		return LEAK_NONE;
	c = cluster_find(b, word);
	if (word >= c->end)
		return LEAK_NONE;
	i = c->index ? c->index[((word - c->start) >> GRANULE_SHIFT) + 1] - 1 : c->first;
	while (b->block[i].addr > word)
		i--; /* ends at the cluster's first block, which starts where the cluster does */
	return word < block_end(&b->block[i]) ? i : LEAK_NONE;
}

uint32_t leak_blocks_from(const struct leak_blocks *b, uint64_t addr)
{
	return (uint32_t)sorted_before(SORTED_BY(b->block, b->count, addr), addr);
}

void leak_blocks_free(struct leak_blocks *b)
{
	index_free(b);
	free(b->block);
	*b = (struct leak_blocks){ 0 };
}
