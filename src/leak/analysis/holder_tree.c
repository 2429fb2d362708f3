/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of what holds the heap, and retained bytes by call site (holder_tree.h). */
#include "src/leak/analysis/holder_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/util/array.h"

#define NODES_MAX                                                                                  \
	(1u << 17) /* before small ones are left out; blocks beyond count in their parent */
#define SLOTS (2 * NODES_MAX)

const char leak_holder_tree_several[] = "shared by several roots";

struct maker {
	const struct leak_holders *h;
	struct leak_holder *node;
	uint32_t count;
	uint32_t *slot; /* a hash table of nodes + 1, by parent and site */
	uint32_t *at; /* per number in the tree of dominators: its node */
	uint32_t several; /* the node of that name; LEAK_NONE: there is none yet */
};

static uint32_t node_add(struct maker *m, struct leak_holder fresh)
{
	if (m->count == NODES_MAX)
		return LEAK_NONE;
	m->node[m->count] = fresh;
	return m->count++;
}

/* The child of `parent` for `site`, or `parent` itself if there is no room for more. */
static uint32_t child_of(struct maker *m, uint32_t parent, uint32_t site)
{
	uint64_t key = (uint64_t)parent << 32 | site;
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS, fresh;

	for (; m->slot[i] != 0; i = (i + 1) % SLOTS) {
		const struct leak_holder *n = &m->node[m->slot[i] - 1];

		if (n->parent == parent && n->site == site)
			return m->slot[i] - 1;
	}
	fresh = node_add(
		m, (struct leak_holder){
			   .parent = parent, .site = site, .depth = m->node[parent].depth + 1 });
	if (fresh == LEAK_NONE)
		return parent;
	m->slot[i] = fresh + 1;
	return fresh;
}

/* The node for a block of `site` below `parent`. */
static uint32_t node_of(struct maker *m, uint32_t parent, uint32_t site)
{
	for (uint32_t i = parent; !m->node[i].name; i = m->node[i].parent)
		if (m->node[i].site == site)
			return i;
	return m->node[parent].depth == HOLDER_TREE_DEPTH ? parent : child_of(m, parent, site);
}

static uint32_t several_of(struct maker *m)
{
	if (m->several == LEAK_NONE)
		m->several = node_add(m, (struct leak_holder){ .parent = LEAK_NONE,
						 .name = leak_holder_tree_several });
	return m->several;
}

/* A block's own bytes are those that it retains, without those that the blocks that it holds
 * retain. So the blocks themselves, scattered in memory, are not read. */
static void own_add(struct leak_holder *n, const struct leak_holders *h, uint32_t i)
{
	n->blocks += h->blocks[i];
	n->bytes += h->bytes[i];
}

static void own_subtract(struct leak_holder *n, const struct leak_holders *h, uint32_t i)
{
	n->blocks -= h->blocks[i];
	n->bytes -= h->bytes[i];
}

/* A dominator's node is known before those that it dominates. False: there are too many roots. */
static bool place(struct maker *m, uint32_t i)
{
	const struct leak_holders *h = m->h;
	uint32_t above = h->tree.dominator[i];

	if (h->site[i] == LEAK_HOLDERS_NO_SITE) {
		m->at[i] = node_add(m, (struct leak_holder){ .parent = LEAK_NONE,
					       .name = h->name[h->tree.node[i]] });
		if (m->at[i] != LEAK_NONE)
			own_add(&m->node[m->at[i]], h, i);
		return m->at[i] != LEAK_NONE;
	}
	above = above == 0 ? several_of(m) : m->at[above];
	if (above == LEAK_NONE)
		return false;
	m->at[i] = node_of(m, above, h->site[i]);
	own_add(&m->node[m->at[i]], h, i);
	if (h->tree.dominator[i] != 0)
		own_subtract(&m->node[m->at[h->tree.dominator[i]]], h, i);
	return true;
}

static bool nodes_make(struct maker *m)
{
	for (uint32_t i = 1; i < m->h->tree.count; i++)
		if (!place(m, i))
			return false;
	for (uint32_t i = m->count; i-- > 0;) {
		struct leak_holder *n = &m->node[i];

		n->all_blocks += n->blocks;
		n->all_bytes += n->bytes;
		if (n->parent != LEAK_NONE) {
			m->node[n->parent].all_blocks += n->all_blocks;
			m->node[n->parent].all_bytes += n->all_bytes;
		}
	}
	return true;
}

/* ---- the tree in order ---- */

struct child {
	uint32_t node, parent;
	uint64_t bytes;
};

/* By parent, and then most bytes first; roots last. */
static int child_order(const void *left, const void *right)
{
	const struct child *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->node < b->node ? -1 : 1;
}

static int bytes_order(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a > b ? -1 : a < b;
}

/* The bytes that a node needs to be kept. */
static uint64_t least_of(const struct maker *m)
{
	uint64_t *bytes = malloc(m->count * sizeof(*bytes)), least;

	if (!bytes)
		return UINT64_MAX;
	for (uint32_t i = 0; i < m->count; i++)
		bytes[i] = m->node[i].all_bytes;
	qsort(bytes, m->count, sizeof(*bytes), bytes_order);
	least = m->count > HOLDER_TREE_MOST ? bytes[HOLDER_TREE_MOST] + 1 : 1;
	free(bytes);
	return least;
}

/* The nodes of `least` bytes or more, sorted; *first: per node, where its children begin. */
static struct child *children_sort(
	const struct maker *m, uint64_t least, uint32_t *count, uint32_t *first)
{
	struct child *child = malloc((m->count + (size_t)1) * sizeof(*child));
	uint32_t n = 0;

	for (uint32_t i = 0; child && i < m->count; i++)
		if (m->node[i].all_bytes >= least)
			child[n++] = (struct child){ i, m->node[i].parent, m->node[i].all_bytes };
	if (child)
		qsort(child, n, sizeof(*child), child_order);
	for (uint32_t i = n; child && i-- > 0;)
		if (child[i].parent != LEAK_NONE)
			first[child[i].parent] = i;
	*count = n;
	return child;
}

/* Where a walk is: at each depth, in the children of which node. */
struct level {
	uint32_t cursor, parent, out; /* out: the parent's index in the result */
};

static uint32_t roots_begin(const struct child *child, uint32_t count)
{
	uint32_t i = count;

	while (i > 0 && child[i - 1].parent == LEAK_NONE)
		i--;
	return i;
}

static void nodes_copy(struct leak_holder_tree *t, const struct maker *m, const struct child *child,
	uint32_t count, const uint32_t *first)
{
	struct level level[HOLDER_TREE_DEPTH + 3] = { { roots_begin(child, count), LEAK_NONE,
		LEAK_NONE } };
	unsigned depth = 0;

	for (;;) {
		struct level *l = &level[depth];

		if (l->cursor < count && child[l->cursor].parent == l->parent) {
			uint32_t i = child[l->cursor++].node;

			t->node[t->count] = m->node[i];
			t->node[t->count].parent = l->out;
			level[++depth] = (struct level){ first[i], i, (uint32_t)t->count++ };
		} else if (depth-- == 0) {
			return;
		}
	}
}

static int tree_copy(struct leak_holder_tree *t, const struct maker *m)
{
	uint32_t *first = malloc((m->count + (size_t)1) * sizeof(*first)), count = 0;
	struct child *child = NULL;
	int rc = -ENOMEM;

	for (uint32_t i = 0; first && i < m->count; i++)
		first[i] = LEAK_NONE;
	if (first)
		child = children_sort(m, least_of(m), &count, first);
	if (child)
		t->node = calloc(count + (size_t)1, sizeof(*t->node));
	if (t->node) {
		nodes_copy(t, m, child, count, first);
		rc = 0;
	}
	free(child);
	free(first);
	return rc;
}

int leak_holder_tree_make(struct leak_holder_tree *t, const struct leak_holders *h)
{
	struct maker m = { .h = h, .several = LEAK_NONE };
	int rc = -ENOMEM;

	*t = (struct leak_holder_tree){ .blocks = h->blocks[0], .bytes = h->bytes[0] };
	m.node = malloc(NODES_MAX * sizeof(*m.node));
	m.slot = calloc(SLOTS, sizeof(*m.slot));
	m.at = array_large(malloc(h->tree.count * sizeof(*m.at)), h->tree.count * sizeof(*m.at));
	if (m.node && m.slot && m.at && nodes_make(&m))
		rc = tree_copy(t, &m);
	free(m.node);
	free(m.slot);
	free(m.at);
	return rc;
}

void leak_holder_tree_free(struct leak_holder_tree *t)
{
	free(t->node);
	*t = (struct leak_holder_tree){ 0 };
}

/* ---- call sites ---- */

/* The tree of dominators downwards, by numbers: each node's first child, and its next sibling. */
struct down {
	uint32_t *child, *sibling;
	uint32_t *above; /* per site: its blocks on the way to the current one */
};

static bool down_make(struct down *d, const struct leak_holders *h, uint32_t sites)
{
	uint32_t n = h->tree.count;

	d->child = array_large(calloc(n, sizeof(*d->child)), n * sizeof(*d->child));
	d->sibling = array_large(calloc(n, sizeof(*d->sibling)), n * sizeof(*d->sibling));
	d->above = calloc(sites + (size_t)1, sizeof(*d->above));
	if (!d->child || !d->sibling || !d->above)
		return false;
	for (uint32_t i = n; i-- > 1;) {
		d->sibling[i] = d->child[h->tree.dominator[i]];
		d->child[h->tree.dominator[i]] = i;
	}
	return true;
}

static uint32_t *above_of(const struct down *d, const struct leak_holders *h, uint32_t i)
{
	return h->site[i] == LEAK_HOLDERS_NO_SITE ? NULL : &d->above[h->site[i]];
}

int leak_holder_tree_sites(const struct leak_holders *h, uint32_t sites,
	void (*outermost)(void *ctx, uint32_t block, uint64_t blocks, uint64_t bytes), void *ctx)
{
	struct down d = { 0 };
	bool ok = down_make(&d, h, sites);
	uint32_t i = ok ? d.child[0] : 0;

	while (i != 0) {
		uint32_t *above = above_of(&d, h, i);

		if (above && (*above)++ == 0)
			outermost(ctx, leak_holders_block(h, i), h->blocks[i], h->bytes[i]);
		if (d.child[i] != 0) {
			i = d.child[i];
			continue;
		}
		for (;; i = h->tree.dominator[i]) {
			above = above_of(&d, h, i);
			if (above)
				--*above;
			if (i == 0 || d.sibling[i] != 0)
				break;
		}
		i = d.sibling[i];
	}
	free(d.child);
	free(d.sibling);
	free(d.above);
	return ok ? 0 : -ENOMEM;
}
