/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree. Runs inside hooks, on any thread; edges NODE and SITE of shm/layout.h.
 */
#include "shm/stack.h"

/* A node's frame. */
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

	return commit_range(s, at, sizeof(uint32_t)) == 0 ? segment_at(s, at) : NULL;
}

/* The heads of a forked child, at least: a program that forks early may become anything in its
 * child, and fewer heads would make a large one's chains long. They take four units of memory; all
 * may take thirty-two. */
#define EXPECTED_LEAST_LOG2 16u
#define HEADS_PER_NODE_LOG2 2u

void stack_expect(const struct segment *s, uint32_t nodes)
{
	uint32_t log2 = EXPECTED_LEAST_LOG2;

	while (log2 < s->header->heads_log2 && nodes >> (log2 - HEADS_PER_NODE_LOG2) != 0)
		log2++;
	if (log2 < s->header->heads_log2)
		s->header->heads_log2 = log2;
}

/* Searches a chain from `node` up to, not including, `end`. */
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

static struct frame leaf_frame(const struct stack_trace *t)
{
	return (struct frame){ .pc = t->function | (t->truncated ? HT_LEAF_TRUNCATED : 0) };
}

/* Frame number `depth` of a stack, outermost 0; after the innermost comes the leaf. */
static struct frame frame_of(const struct stack_trace *t, uint32_t depth)
{
	uint32_t i = t->count - 1 - depth;

	return depth == t->count ? leaf_frame(t) : (struct frame){ t->pcs[i], t->modules[i] };
}

/* The chain of node `first + k` of a branch (below), a child of the one before. */
static uint32_t *branch_head(const struct segment *s, const struct stack_trace *t, uint32_t depth,
	uint32_t first, uint32_t k)
{
	struct frame f = frame_of(t, depth + k);

	return chain_head(s, first + k - 1, &f);
}

/* Allocates `count` nodes in a row. Commits memory for them and for their chains first: while there
 * is none, repeated stacks must not use up the table. The chains' heads are scattered, so they are
 * prefetched together. 0: no room. */
static uint32_t branch_take(
	const struct segment *s, const struct stack_trace *t, uint32_t depth, uint32_t count)
{
	const uint64_t size = sizeof(struct ht_node),
		       room = segment_capacity(s, HT_REGION_NODES, size);
	uint32_t first = ht_load_relaxed_32(&s->header->nodes);

	do {
		uint64_t at = segment_element(s, HT_REGION_NODES, first, size);

		if (first + (uint64_t)count > room || commit_range(s, at, count * size) != 0)
			return 0;
		for (uint32_t k = 1; k < count; k++) {
			const uint32_t *head = branch_head(s, t, depth, first, k);

			if (!head)
				return 0;
			__builtin_prefetch(head, 1);
		}
	} while (!ht_cas_relaxed_32(&s->header->nodes, &first, first + count));
	return first;
}

/* Puts a node into a chain. No other thread knows its parent, so it is not there yet. */
static void node_push(const struct segment *s, uint32_t *head, uint32_t node)
{
	uint32_t seen = ht_load_relaxed_32(head);

	do {
		stack_node(s, node)->next = seen;
	} while (!ht_cas_acq_rel_32(head, &seen, node)); /* NODE: publishes the fields */
}

/* Creates the nodes of a stack from `depth` on, leaf included: a connected branch that is not
 * attached yet. Returns the first, 0: the tree is full. They are in a row. */
static uint32_t branch_new(
	const struct segment *s, const struct stack_trace *t, uint32_t depth, uint32_t parent)
{
	uint32_t count = t->count + 1 - depth, first = branch_take(s, t, depth, count);

	for (uint32_t k = 0; first && k < count; k++) {
		struct ht_node *n = stack_node(s, first + k);
		struct frame f = frame_of(t, depth + k);

		n->pc = f.pc;
		n->parent = k ? first + k - 1 : parent;
		n->module = f.module;
	}
	for (uint32_t k = 1; first && k < count; k++)
		node_push(s, branch_head(s, t, depth, first, k), first + k);
	return first;
}

/* The child of `parent` for frame number `depth`, created with the rest of the stack if missing:
 * then *made nodes, in a row, are new. 0 when the tree is full. */
static uint32_t child(const struct segment *s, uint32_t parent, const struct stack_trace *t,
	uint32_t depth, uint32_t *made)
{
	struct frame f = frame_of(t, depth);
	uint32_t *head = chain_head(s, parent, &f);
	uint32_t seen, found, fresh;

	*made = 0;
	if (!head)
		return 0;
	seen = ht_load_acquire_32(head); /* NODE */
	found = chain_find(s, seen, 0, parent, &f);
	if (found)
		return found;
	fresh = branch_new(s, t, depth, parent);
	if (!fresh)
		return 0;
	for (;;) {
		uint32_t before = seen;

		stack_node(s, fresh)->next = seen;
		if (ht_cas_acq_rel_32(head, &seen, fresh)) { /* NODE: publishes the fields */
			*made = t->count + 1 - depth;
			return fresh;
		}
		/* Other threads pushed in between: search theirs only. If ours is there, the new
		 * branch stays unused; that costs 24 bytes a frame, once per race. */
		found = chain_find(s, seen, before, parent, &f);
		if (found)
			return found;
	}
}

static uint32_t site_new(const struct segment *s, uint32_t leaf, bool truncated)
{
	const uint64_t size = sizeof(struct ht_site);
	uint64_t room = segment_capacity(s, HT_REGION_SITES, size);
	const struct commit_table sites = { &s->header->sites, HT_REGION_SITES, size,
		room < HT_SITES_MAX ? room : HT_SITES_MAX };
	uint32_t index = commit_take(s, &sites);
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
	/* SITE: publishes the site's fields. The loser's site has no counts, so is never shown. */
	return ht_cas_acq_rel_32(&n->site, &site, fresh) ? fresh : site;
}

/* Whether the last stack had this frame here, after the same ones. */
static bool path_has(
	const struct segment *s, const struct stack_trace *t, uint32_t depth, uint32_t parent)
{
	struct frame f = frame_of(t, depth);
	const struct ht_node *n;

	if (!t->path || depth >= t->path->count || depth == t->count)
		return false;
	n = stack_node(s, t->path->nodes[depth]);
	return n->parent == parent && n->pc == f.pc && n->module == f.module;
}

/* Notes that the stack led through these nodes, in a row, from `depth` on. */
static void path_note(const struct stack_trace *t, uint32_t depth, uint32_t node, uint32_t count)
{
	struct stack_path *path = t->path;

	for (uint32_t k = 0; path && k < count && depth + k < t->count && depth + k < path->room;
		k++) {
		path->nodes[depth + k] = node + k;
		path->count = depth + k + 1;
	}
}

/* Notes that the path ends here. */
static void path_end(const struct stack_trace *t, uint32_t depth)
{
	if (t->path && t->path->count > depth)
		t->path->count = depth;
}

/* The number of frames known to be on the last stack's path. */
static uint32_t kept_of(const struct stack_trace *t)
{
	if (!t->path)
		return 0;
	return t->kept < t->path->count ? t->kept : t->path->count;
}

/* The leaf of a stack; 0 when the tree is full. */
static uint32_t leaf_of(const struct segment *s, const struct stack_trace *t)
{
	uint32_t depth = kept_of(t), node = depth ? t->path->nodes[depth - 1] : 0, made;

	for (; depth <= t->count; depth++) {
		if (path_has(s, t, depth, node)) {
			node = t->path->nodes[depth];
			continue;
		}
		node = child(s, node, t, depth, &made);
		if (node == 0) {
			path_end(t, depth);
			return 0;
		}
		path_note(t, depth, node, made ? made : 1);
		if (made)
			return node + made - 1;
	}
	return node;
}

uint32_t stack_intern(const struct segment *s, const struct stack_trace *t)
{
	uint32_t leaf = leaf_of(s, t);

	if (leaf != 0)
		return site_of(s, leaf, t->truncated);
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
