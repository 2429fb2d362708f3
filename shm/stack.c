/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree. Runs inside hooks, on any thread; edges NODE and SITE of shm/layout.h.
 */
#include "shm/stack.h"

#include "shm/stack_ancestor.h"
#include "shm/stack_index.h"

/* The hash of a stack from the outermost frame in to one with hash `outer`, and one more. */
static uint64_t hash_in(uint64_t outer, const struct stack_frame *f)
{
	uint64_t h = (outer ^ f->pc ^ (uint64_t)f->module << 47) * 0x9fb21c651e98df25ull;

	return h ^ h >> 32;
}

static struct stack_frame leaf_frame(const struct stack_trace *t)
{
	return (struct stack_frame){ .pc = t->function | (t->truncated ? HT_LEAF_TRUNCATED : 0) };
}

/* Frame number `depth` of a stack, outermost 0; after the innermost comes the leaf. */
static struct stack_frame frame_of(const struct stack_trace *t, uint32_t depth)
{
	uint32_t i = t->count - 1 - depth;

	return depth == t->count ? leaf_frame(t) : (struct stack_frame){ t->pcs[i], t->modules[i] };
}

/* The hash in to frame number `depth`, from that of the frames out from it. */
static uint64_t hash_of(const struct stack_trace *t, uint32_t depth, uint64_t outer)
{
	struct stack_frame f = frame_of(t, depth);

	return hash_in(outer, &f);
}

/* ---- nodes ---- */

/* A way from the root into the tree, along a stack. */
struct way {
	uint32_t depth; /* frames of the stack on it */
	uint32_t node; /* where they lead; 0: the root */
	uint64_t hash; /* of them */
};

/* The node that a slot of another one holds, if it has this frame; or 0. */
static uint32_t child_like(const struct segment *s, uint32_t slot, uint32_t tag, uint32_t parent,
	const struct stack_frame *f)
{
	return (slot ^ tag) <= HT_INDEX_NODE && stack_index_is(s, slot & HT_INDEX_NODE, parent, f)
		       ? slot & HT_INDEX_NODE
		       : 0;
}

/* The child of a node for a frame; `hash`: of all frames in to there. 0: there is none. */
static uint32_t child_find(
	const struct segment *s, uint32_t parent, const struct stack_frame *f, uint64_t hash)
{
	const struct ht_node *n = stack_node(s, parent);
	uint32_t tag = stack_index_tag(hash);

	for (unsigned i = 0; i < HT_NODE_CHILDREN; i++) {
		uint32_t slot = ht_load_acquire_32(&n->child[i]); /* NODE */
		uint32_t node = slot ? child_like(s, slot, tag, parent, f) : 0;

		if (node || !slot)
			return node;
	}
	return stack_index_find(s, hash, parent, f);
}

/*
 * Puts a new node in, or returns the same one that another thread put in. 0: no room.
 *
 * A node's slots for children are used in order, and never change again; only what differs from all
 * of them goes into the index. So a child has one place, where threads that put the same one in
 * meet.
 */
static uint32_t child_put(const struct segment *s, uint32_t fresh, uint64_t hash)
{
	const struct ht_node *n = stack_node(s, fresh);
	const struct stack_frame f = { n->pc, n->module };
	struct ht_node *parent = stack_node(s, n->parent);
	uint32_t tag = stack_index_tag(hash);

	for (unsigned i = 0; i < HT_NODE_CHILDREN; i++) {
		uint32_t slot = ht_load_acquire_32(&parent->child[i]), node; /* NODE */

		if (slot == 0 &&
			ht_cas_acq_rel_32(&parent->child[i], &slot, tag | fresh)) /* NODE */
			return fresh;
		node = child_like(s, slot, tag, n->parent, &f);
		if (node)
			return node;
	}
	return stack_index_put(s, hash, fresh);
}

/* Takes memory for the place in the index of the first new node on a way. If it turns out to need
 * one only later, since other threads were first, there may be none, once. */
static bool child_room(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	const struct ht_node *n = stack_node(s, w->node);

	return ht_load_relaxed_32(&n->child[HT_NODE_CHILDREN - 1]) == 0 ||
	       stack_index_room(s, hash_of(t, w->depth, w->hash));
}

/* Allocates nodes, in a row, for the rest of a stack, leaf included. Takes memory for them and for
 * their place in the index first: while there is none, repeated stacks must not use up the table.
 * 0: no room. */
static uint32_t row_take(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	const uint64_t size = sizeof(struct ht_node),
		       capacity = segment_capacity(s, HT_REGION_NODES, size),
		       room = capacity < HT_NODES_MAX ? capacity : HT_NODES_MAX;
	uint32_t first = ht_load_relaxed_32(&s->header->nodes), count = t->count + 1 - w->depth;

	if (first + (uint64_t)count > room || !stack_ancestor_spares(s) || !child_room(s, t, w))
		return 0;
	do {
		uint64_t at = segment_element(s, HT_REGION_NODES, first, size);

		if (first + (uint64_t)count > room || commit_range(s, at, count * size) != 0)
			return 0;
	} while (!ht_cas_relaxed_32(&s->header->nodes, &first, first + count));
	return first;
}

/* Fills in a row of nodes for the rest of a stack, each the first child of the one before; a node's
 * pc last, since readers copy nodes that are not published yet. */
static void row_fill(
	const struct segment *s, const struct stack_trace *t, const struct way *w, uint32_t first)
{
	uint32_t count = t->count + 1 - w->depth;
	struct ht_node *n = stack_node(s, first);
	uint64_t hash = w->hash;

	for (uint32_t i = 0; i < count; i++) {
		struct stack_frame f = frame_of(t, w->depth + i);

		hash = hash_in(hash, &f);
		n[i].parent = i == 0 ? w->node : first + i - 1;
		n[i].module = f.module;
		ht_store_release_64(&n[i].pc, f.pc); /* NODE */
		if (i != 0)
			n[i - 1].child[0] = stack_index_tag(hash) | (first + i);
	}
}

/* ---- the last stack's path ---- */

/* Whether the last stack had this frame here, after the same ones. */
static bool path_has(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	struct stack_frame f = frame_of(t, w->depth);

	if (!t->path || w->depth >= t->path->count || w->depth == t->count)
		return false;
	return stack_index_is(s, t->path->steps[w->depth].node, w->node, &f);
}

/* Notes that the path ends here. */
static void path_end(const struct stack_trace *t, uint32_t depth)
{
	if (t->path)
		t->path->count = depth < t->path->room ? depth : t->path->room;
}

/* The step for frame number `depth`; NULL: there is no room for it. */
static struct stack_step *path_step(const struct stack_trace *t, uint32_t depth)
{
	return t->path && depth < t->path->room ? &t->path->steps[depth] : NULL;
}

/* Goes on to the next frame, which leads to `node`. */
static void way_step(const struct stack_trace *t, struct way *w, uint32_t node, uint64_t hash)
{
	struct stack_step *step = w->depth < t->count ? path_step(t, w->depth) : NULL;

	if (step)
		*step = (struct stack_step){ .hash = hash, .node = node };
	w->depth++;
	w->node = node;
	w->hash = hash;
}

/* The part of a stack that it shares with the last one. The first frames are known to be the same.
 * The hashes of further ones are computed anew: a signal handler may have left this between a
 * step's hash and its node. */
static struct way way_along(const struct segment *s, const struct stack_trace *t)
{
	struct way w = { .depth = 0 };

	if (t->path && t->path->count && t->kept) {
		w.depth = t->kept < t->path->count ? t->kept : t->path->count;
		w.node = t->path->steps[w.depth - 1].node;
		w.hash = t->path->steps[w.depth - 1].hash;
	}
	while (path_has(s, t, &w))
		way_step(t, &w, t->path->steps[w.depth].node, hash_of(t, w.depth, w.hash));
	return w;
}

/* ---- leaves ---- */

/* Fetches a leaf's line. */
static void leaf_prefetch(const struct segment *s, uint32_t leaf)
{
	__builtin_prefetch(stack_node(s, leaf));
}

/* Notes the leaf of the thread's last stack, that it followed that of the one before, and whether
 * it did so the last time. The next stack's may follow it again. */
static void leaf_note(const struct segment *s, const struct stack_trace *t, uint32_t leaf)
{
	uint32_t *next;

	if (!t->path)
		return;
	next = &stack_node(s, t->path->leaf)->child[0];
	t->path->guessed = t->path->leaf != 0 && ht_load_relaxed_32(next) == leaf;
	/* NODE: passes on the leaf's fields to those who find it here. */
	if (t->path->leaf != 0 && !t->path->guessed)
		ht_store_release_32(next, leaf);
	t->path->leaf = leaf;
	leaf_prefetch(s, ht_load_relaxed_32(&stack_node(s, leaf)->child[0]));
}

/* Whether the nodes from a leaf outwards are those of a stack beyond `w`. Notes the path, which has
 * room for all of it, as it goes: these nodes are in the tree in any case. */
static bool leaf_is(
	const struct segment *s, const struct stack_trace *t, const struct way *w, uint32_t leaf)
{
	const struct ht_node *n = stack_node(s, leaf);

	if (n->pc != leaf_frame(t).pc)
		return false;
	for (uint32_t i = 0; i < t->count - w->depth; i++) {
		uint32_t node = n->parent;

		n = stack_node(s, node);
		if (node == 0 || n->pc != t->pcs[i] || n->module != t->modules[i])
			return false;
		t->path->steps[t->count - 1 - i].node = node;
	}
	return n->parent == w->node;
}

/* Ends the way at a leaf beyond it, whose path is noted but for the hashes. */
static void way_end(const struct stack_trace *t, struct way *w, uint32_t leaf)
{
	for (; w->depth < t->count; w->depth++) {
		uint32_t i = t->count - 1 - w->depth;
		const struct stack_frame f = { t->pcs[i], t->modules[i] };

		w->hash = hash_in(w->hash, &f);
		t->path->steps[w->depth].hash = w->hash;
	}
	w->depth++;
	w->node = leaf;
}

/* Goes on to the leaf that followed last time, if it is this stack's: no search, and its line is
 * there already. Only as long as such guesses have held: a wrong one may be compared for long, and
 * with nodes that are far away. */
static void way_guessed(const struct segment *s, const struct stack_trace *t, struct way *w)
{
	uint32_t leaf;

	if (!t->path || !t->path->guessed || t->count > t->path->room)
		return;
	leaf = ht_load_acquire_32(&stack_node(s, t->path->leaf)->child[0]); /* NODE */
	if (leaf == 0 || !leaf_is(s, t, w, leaf))
		return;
	way_end(t, w, leaf);
}

/* Goes on along a stack as far as nodes are known. */
static void way_known(const struct segment *s, const struct stack_trace *t, struct way *w)
{
	while (w->depth <= t->count) {
		struct stack_frame f = frame_of(t, w->depth);
		uint64_t hash = hash_in(w->hash, &f);
		uint32_t node = child_find(s, w->node, &f, hash);

		if (!node)
			return;
		way_step(t, w, node, hash);
	}
}

/*
 * Creates what the tree lacks of a stack, leaf included. False: the tree is full.
 *
 * A row of nodes becomes part of the tree at once, when its first one does. Where another thread
 * put that one in, ours stays unused, once per race, and the rest of the row goes on from theirs,
 * whose number may be higher. Readers that have copied the next node before notice nothing: ours is
 * like theirs.
 */
static bool way_make(const struct segment *s, const struct stack_trace *t, struct way *w)
{
	uint32_t fresh = row_take(s, t, w), node = 0;

	if (!fresh)
		return false;
	row_fill(s, t, w, fresh);
	for (; node != fresh && w->depth <= t->count; fresh += node != fresh) {
		uint64_t hash = hash_of(t, w->depth, w->hash);

		if (node != 0) /* Relaxed: our own thread publishes it later. */
			ht_store_relaxed_32(&stack_node(s, fresh)->parent, w->node);
		node = child_put(s, fresh, hash);
		if (!node)
			return false;
		way_step(t, w, node, hash);
	}
	while (w->depth <= t->count)
		way_step(t, w, ++fresh, hash_of(t, w->depth, w->hash));
	return true;
}

/* The leaf of a stack; 0 when the tree is full: then *last is its innermost node there. */
static uint32_t leaf_of(const struct segment *s, const struct stack_trace *t, uint32_t *last)
{
	struct way w = way_along(s, t);
	uint32_t kept = w.depth;

	way_guessed(s, t, &w);
	way_known(s, t, &w);
	if (w.depth <= t->count && !way_make(s, t, &w)) {
		path_end(t, w.depth);
		if (t->path)
			t->path->guessed = false;
		*last = w.node;
		return 0;
	}
	/* A stack that ends on the last one's path leaves the rest of that as it is. */
	if (kept < t->count)
		path_end(t, t->count);
	leaf_note(s, t, w.node);
	return w.node;
}

static uint32_t site_new(const struct segment *s, uint32_t leaf, bool truncated)
{
	const uint64_t size = sizeof(struct ht_site);
	const struct commit_table sites = { &s->header->sites, HT_REGION_SITES, size,
		stack_ancestor_limit(s) };
	uint32_t index = commit_take(s, &sites);
	struct ht_site *site = stack_site(s, index);

	if (index == 0)
		return 0;
	site->flags = truncated ? HT_SITE_TRUNCATED : 0;
	ht_store_release_32(&site->node, leaf); /* SITE: last, for readers that copy it too early */
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

uint32_t stack_intern(const struct segment *s, const struct stack_trace *t)
{
	uint32_t last = 0, leaf = leaf_of(s, t, &last);
	uint32_t site = leaf ? site_of(s, leaf, t->truncated) : 0;

	if (site != 0)
		return site;
	if (leaf != 0)
		last = stack_node(s, leaf)->parent;
	else if (ht_load_relaxed_32(&s->header->sites) >= stack_ancestor_limit(s))
		ht_add_relaxed_64(&s->header->sites_refused, 1);
	else
		ht_add_relaxed_64(&s->header->nodes_refused, 1);
	return stack_ancestor_site(s, last, t->truncated);
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
