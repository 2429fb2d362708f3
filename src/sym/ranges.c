/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sorted array of address ranges. Called by dwarf_reader.c on the symboliser's worker thread. */
#include "src/sym/ranges.h"

#include <stdlib.h>
#include "src/util/array.h"
#include "src/util/sorted.h"

/* Most ranges of one entry; the largest real entries have some thousands. */
#define PER_DIE_MAX 65536
/* Overlaps come from folded or malformed code: number of ranges checked backwards for one that
 * covers the address. */
#define LOOK_BACK 16u

bool ranges_add(struct ranges *l, uint64_t lo, uint64_t hi, size_t owner)
{
	struct range *items;

	if (lo == 0 || lo >= hi || owner > UINT32_MAX)
		return true;
	items = array_grow(l->items, l->count, &l->cap, sizeof(*items));
	if (!items)
		return false;
	l->items = items;
	items[l->count++] = (struct range){ .lo = lo, .hi = hi, .owner = (uint32_t)owner };
	return true;
}

int ranges_add_die(struct ranges *l, Dwarf_Die *die, size_t owner)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	int n = 0;

	while (n < PER_DIE_MAX && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (!ranges_add(l, lo, hi, owner))
			return -1;
		n++;
	}
	return n;
}

static int range_compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	/* The longer first, so that a search backwards finds the innermost. */
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

void ranges_sort(struct ranges *l)
{
	if (l->count > 1)
		qsort(l->items, l->count, sizeof(*l->items), range_compare);
}

/* Number of ranges that begin at or before `vaddr`. */
static size_t count_before(const struct ranges *l, uint64_t vaddr)
{
	return sorted_through(SORTED_BY(l->items, l->count, lo), vaddr);
}

const struct range *ranges_next(const struct ranges *l, uint64_t vaddr, size_t *at)
{
	size_t n = *at == SIZE_MAX ? count_before(l, vaddr) : *at;

	for (size_t back = 0; back < LOOK_BACK && n > 0; back++, n--) {
		if (vaddr < l->items[n - 1].hi) {
			*at = n - 1;
			return &l->items[n - 1];
		}
	}
	*at = 0;
	return NULL;
}

void ranges_free(struct ranges *l)
{
	free(l->items);
	*l = (struct ranges){ 0 };
}
