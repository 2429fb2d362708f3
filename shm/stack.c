/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree. Runs inside hooks, on any thread; edges NODE and SITE of shm/layout.h.
 */
#include "shm/stack.h"

/* What a node stands for. */
struct frame {
	uint64_t pc;
	uint32_t module;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

static uint32_t *chain_head(const struct segment *s, uint32_t parent, const struct frame *f)
{
	uint64_t hash = mix(mix(f->pc, parent), f->module) * 0x9e3779b97f4a7c15ull;
	uint64_t at = segment_element(
		s, HT_REGION_HEADS, hash >> (64 - s->header->heads_log2), sizeof(uint32_t));

	return segment_commit(s, at, sizeof(uint32_t)) == 0 ? segment_at(s, at) : NULL;
}

/* Looks in a chain from `node` up to, not including, `end`. */
static uint32_t chain_find(const struct segment *s, uint32_t node, uint32_t end, uint32_t parent,
	const struct frame *f)
{
	for (; node != end && node != 0;) {
		const struct ht_node *n = stack_node(s, node);

		if (n->pc == f->pc && n->parent == parent && n->module == f->module)
			return node;
		node = n->next;
	}
	return 0;
}

static uint32_t node_new(const struct segment *s, uint32_t parent, const struct frame *f)
{
	const uint64_t size = sizeof(struct ht_node);
	const struct segment_table nodes = { &s->header->nodes, HT_REGION_NODES, size,
		segment_room(s, HT_REGION_NODES, size) };
	uint32_t index = segment_take(s, &nodes);
	struct ht_node *n = stack_node(s, index);

	if (index == 0)
		return 0;
	n->pc = f->pc;
	n->parent = parent;
	n->module = f->module;
	return index;
}

/* The child of `parent` for this frame, made if need be; 0 when the tree is full. */
static uint32_t child(const struct segment *s, uint32_t parent, const struct frame *f)
{
	uint32_t *head = chain_head(s, parent, f);
	uint32_t seen, found, fresh;

	if (!head)
		return 0;
	seen = ht_load_acquire_32(head); /* NODE */
	found = chain_find(s, seen, 0, parent, f);
	if (found)
		return found;
	fresh = node_new(s, parent, f);
	if (!fresh)
		return 0;
	for (;;) {
		uint32_t before = seen;

		stack_node(s, fresh)->next = seen;
		if (ht_cas_acq_rel_32(head, &seen, fresh)) /* NODE: publishes the fields */
			return fresh;
		/* Others pushed in between: look at theirs only. If ours is there, the new node
		 * stays unused; that costs 24 bytes, once per race. */
		found = chain_find(s, seen, before, parent, f);
		if (found)
			return found;
	}
}

static uint32_t site_new(const struct segment *s, uint32_t leaf, bool truncated)
{
	const uint64_t size = sizeof(struct ht_site);
	uint64_t room = segment_room(s, HT_REGION_SITES, size);
	const struct segment_table sites = { &s->header->sites, HT_REGION_SITES, size,
		room < HT_SITE_HIDDEN ? room : HT_SITE_HIDDEN };
	uint32_t index = segment_take(s, &sites);
	struct ht_site *site = stack_site(s, index);

	if (index == 0)
		return 0;
	site->node = leaf;
	site->flags = truncated ? HT_SITE_TRUNCATED : 0;
	return index;
}

static uint32_t site_of(const struct segment *s, uint32_t leaf, bool truncated)
{
	struct ht_node *n = stack_node(s, leaf);
	uint32_t site = ht_load_acquire_32(&n->site); /* SITE */
	uint32_t fresh;

	if (site)
		return site;
	fresh = site_new(s, leaf, truncated);
	if (!fresh) {
		ht_add_relaxed_64(&s->header->sites_refused, 1);
		return 0;
	}
	/* SITE: publishes the site's fields. The loser's site is never counted in, so never shown.
	 */
	return ht_cas_acq_rel_32(&n->site, &site, fresh) ? fresh : site;
}

static struct frame leaf_frame(const struct stack_trace *t)
{
	return (struct frame){ .pc = t->function | (t->truncated ? HT_LEAF_TRUNCATED : 0) };
}

/* The child for frame number `depth` (outermost 0): where the last stack went, if it was the same.
 */
static uint32_t child_along(const struct segment *s, uint32_t parent, const struct frame *f,
	uint32_t depth, struct stack_path *path)
{
	uint32_t node;

	if (!path || depth >= path->room)
		return child(s, parent, f);
	if (depth < path->count) {
		const struct ht_node *n = stack_node(s, path->nodes[depth]);

		if (n->parent == parent && n->pc == f->pc && n->module == f->module)
			return path->nodes[depth];
	}
	node = child(s, parent, f);
	path->nodes[depth] = node;
	path->count = node ? depth + 1 : depth;
	return node;
}

/* How many frames are known to be where the last stack led. */
static uint32_t kept_of(const struct stack_trace *t)
{
	if (!t->path)
		return 0;
	return t->kept < t->path->count ? t->kept : t->path->count;
}

uint32_t stack_intern(const struct segment *s, const struct stack_trace *t)
{
	struct frame leaf = leaf_frame(t);
	uint32_t kept = kept_of(t), node = kept ? t->path->nodes[kept - 1] : 0;

	for (uint32_t i = t->count - kept; i-- > 0;) {
		struct frame f = { t->pcs[i], t->modules[i] };

		node = child_along(s, node, &f, t->count - 1 - i, t->path);
		if (node == 0)
			goto refused;
	}
	node = child(s, node, &leaf);
	if (node != 0)
		return site_of(s, node, t->truncated);
refused:
	ht_add_relaxed_64(&s->header->nodes_refused, 1);
	return 0;
}

enum stack_match stack_compare(const struct segment *s, uint32_t site, const struct stack_trace *t)
{
	const struct ht_node *n = stack_node(s, stack_site(s, site)->node);
	uint32_t unpinned = 0;

	if (n->pc != leaf_frame(t).pc)
		return STACK_DIFFERS;
	for (uint32_t i = 0; i < t->count; i++) {
		if (n->parent == 0)
			return STACK_DIFFERS;
		n = stack_node(s, n->parent);
		if (n->pc != t->pcs[i] || (t->modules && n->module != t->modules[i]))
			return STACK_DIFFERS;
		unpinned |= n->module & HT_NODE_UNPINNED;
	}
	if (n->parent != 0)
		return STACK_DIFFERS;
	return unpinned && !t->modules ? STACK_SAME_ADDRESSES : STACK_SAME;
}
