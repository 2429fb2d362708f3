/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges of mapped memory, by address (mappings_tree.h). In hooks, any thread, under the lock.
 */
#include "shm/mappings_tree.h"

#include "shm/commit.h"

/* The children of an entry. */
enum side { LEFT, RIGHT };

static uint32_t *child(const struct segment *s, uint32_t number, enum side side)
{
	struct ht_mapping *e = mappings_tree_at(s, number);

	return side == LEFT ? &e->left : &e->right;
}

static uint64_t start_of(const struct segment *s, uint32_t number)
{
	return mappings_tree_at(s, number)->start;
}

/* "lowbias32" of C. Wellons' hash-prospector. Entries near in number are mostly near in address. */
static uint32_t priority(uint32_t number)
{
	uint32_t x = number;

	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Parts a tree: entries that start below `at`, and the others. */
static void split(
	const struct segment *s, uint32_t tree, uint64_t at, uint32_t *below, uint32_t *above)
{
	while (tree != 0) {
		if (start_of(s, tree) < at) {
			*below = tree;
			below = child(s, tree, RIGHT);
			tree = *below;
		} else {
			*above = tree;
			above = child(s, tree, LEFT);
			tree = *above;
		}
	}
	*below = *above = 0;
}

/* All of `below` is below all of `above`. */
static uint32_t join(const struct segment *s, uint32_t below, uint32_t above)
{
	uint32_t root, *link = &root;

	while (below != 0 && above != 0) {
		if (priority(below) > priority(above)) {
			*link = below;
			link = child(s, below, RIGHT);
			below = *link;
		} else {
			*link = above;
			link = child(s, above, LEFT);
			above = *link;
		}
	}
	*link = below != 0 ? below : above;
	return root;
}

uint32_t mappings_tree_fresh(const struct segment *s, enum mappings_tree_use use)
{
	const uint64_t size = sizeof(struct ht_mapping),
		       room = segment_capacity(s, HT_REGION_MAPPINGS, size);
	const struct commit_table table = { &s->header->mappings, HT_REGION_MAPPINGS, size,
		use == MAPPINGS_TREE_CALLS ? room / 2 : room };

	return commit_take(s, &table);
}

uint32_t mappings_tree_new(const struct segment *s)
{
	uint32_t number = s->header->mapping_free;

	if (number == 0)
		return mappings_tree_fresh(s, MAPPINGS_TREE_RANGES);
	s->header->mapping_free = mappings_tree_at(s, number)->left;
	return number;
}

void mappings_tree_free(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);

	*e = (struct ht_mapping){ .left = s->header->mapping_free };
	e->mark = ht_mapping_mark(e);
	s->header->mapping_free = number;
}

void mappings_tree_put(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);
	uint32_t below, above;

	e->left = e->right = 0;
	e->mark = ht_mapping_mark(e);
	split(s, s->header->mapping_root, e->start, &below, &above);
	s->header->mapping_root = join(s, join(s, below, number), above);
}

/* Makes a list of a tree: its entries by address, linked by `left`. */
static uint32_t flatten(const struct segment *s, uint32_t tree)
{
	uint32_t list = 0;

	/* Turns the tree to the left until the highest is its root, which then is taken. */
	while (tree != 0) {
		uint32_t right = *child(s, tree, RIGHT);

		if (right != 0) {
			*child(s, tree, RIGHT) = *child(s, right, LEFT);
			*child(s, right, LEFT) = tree;
			tree = right;
		} else {
			right = tree;
			tree = *child(s, right, LEFT);
			*child(s, right, LEFT) = list;
			list = right;
		}
	}
	return list;
}

uint32_t mappings_tree_take(const struct segment *s, uint64_t start, uint64_t end)
{
	uint32_t below, within, above;

	split(s, s->header->mapping_root, start, &below, &within);
	split(s, within, end, &within, &above);
	s->header->mapping_root = join(s, below, above);
	return flatten(s, within);
}

uint32_t mappings_tree_floor(const struct segment *s, uint64_t at)
{
	uint32_t tree = s->header->mapping_root, found = 0;

	while (tree != 0) {
		bool is_above = start_of(s, tree) > at;

		if (!is_above)
			found = tree;
		tree = *child(s, tree, is_above ? LEFT : RIGHT);
	}
	return found;
}

uint32_t mappings_tree_over(const struct segment *s, uint64_t at)
{
	uint32_t found = at == 0 ? 0 : mappings_tree_floor(s, at - 1);

	return found != 0 && mappings_tree_at(s, found)->end > at ? found : 0;
}

void mappings_tree_ring_start(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);

	e->before = e->after = number;
}

void mappings_tree_ring_add(const struct segment *s, uint32_t number, uint32_t of)
{
	struct ht_mapping *e = mappings_tree_at(s, number), *o = mappings_tree_at(s, of);

	e->before = of;
	e->after = o->after;
	mappings_tree_at(s, o->after)->before = number;
	o->after = number;
}

bool mappings_tree_ring_remove(const struct segment *s, uint32_t number)
{
	struct ht_mapping *e = mappings_tree_at(s, number);

	mappings_tree_at(s, e->before)->after = e->after;
	mappings_tree_at(s, e->after)->before = e->before;
	return e->after == number;
}
