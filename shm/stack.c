/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree. Runs inside hooks, on any thread; edges NODE and SITE of shm/layout.h.
 */
#include "shm/stack.h"

#include "shm/stack_ancestor.h"

/* A node's frame. */
struct frame {
	uint64_t pc;
	uint32_t module;
};

/* The hash of a stack from the outermost frame in to one with hash `outer`, and one more. */
static uint64_t hash_in(uint64_t outer, const struct frame *f)
{
	uint64_t h = (outer ^ f->pc ^ (uint64_t)f->module << 47) * 0x9fb21c651e98df25ull;

	return h ^ h >> 32;
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

/* The hash in to frame number `depth`, from that of the frames out from it. */
static uint64_t hash_of(const struct stack_trace *t, uint32_t depth, uint64_t outer)
{
	struct frame f = frame_of(t, depth);

	return hash_in(outer, &f);
}

/* ---- the index ---- */

/* A line of the index that a node may be in: first one in each level, then the next ones of the
 * last level. */
struct line {
	uint64_t first, count; /* its level: number of its first line, and of lines */
	uint64_t home; /* the line in each level, before masking */
	uint32_t level, past; /* lines past it in the last level */
};

static struct line line_first(const struct segment *s, uint64_t hash)
{
	return (struct line){ .count = 1ull << s->header->index_log2, .home = hash };
}

/* False: there is no further line. */
static bool line_next(const struct segment *s, struct line *l)
{
	if (l->level + 1 == s->header->index_levels)
		return ++l->past < HT_INDEX_PROBE_LINES;
	l->level++;
	l->first += l->count;
	l->count <<= HT_INDEX_GROWTH_LOG2;
	return true;
}

static uint64_t line_offset(const struct segment *s, const struct line *l)
{
	uint64_t number = l->first + ((l->home + l->past) & (l->count - 1));

	return segment_element(
		s, HT_REGION_INDEX, number, HT_INDEX_SLOTS * (uint64_t)sizeof(uint32_t));
}

/* The slots of a line. NULL: it has no memory yet. */
static uint32_t *line_slots(const struct segment *s, const struct line *l)
{
	uint64_t at = line_offset(s, l);

	return commit_has(s, at) ? segment_at(s, at) : NULL;
}

/* Which number of a slot is a node's with this hash. Not 0. */
static uint32_t tag_of(uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32) & ~HT_INDEX_NODE;

	return tag ? tag : HT_INDEX_NODE + 1;
}

/* Fetches the lines that a node may be in, so that they arrive together. */
static void index_prefetch(const struct segment *s, uint64_t hash)
{
	struct line l = line_first(s, hash);

	do {
		const uint32_t *slots = line_slots(s, &l);

		if (!slots)
			return;
		__builtin_prefetch(slots);
	} while (line_next(s, &l) && l.past == 0);
}

/* A search in the index. */
struct search {
	struct line line;
	uint32_t tag, at; /* the next slot of the line */
	uint32_t *slots; /* of the line; NULL: not entered yet */
	uint32_t *free; /* at its end: where the node would be; NULL: no room, or no memory */
};

static struct search search_start(const struct segment *s, uint64_t hash)
{
	return (struct search){ .line = line_first(s, hash), .tag = tag_of(hash) };
}

/* A slot of a full line, which is final: at most, another thread's compare-and-swap fails there. */
static uint32_t slot_final(const uint32_t *slot)
{
#ifdef __SANITIZE_THREAD__
	return ht_load_relaxed_32(slot); /* it takes one that fails for a write */
#else
	return *slot; /* so that a line is compared as a whole */
#endif
}

/* Whether a slot of a full line has this tag. */
static bool line_has(const uint32_t *slots, uint32_t tag)
{
	bool has = false;

	for (unsigned i = 0; i < HT_INDEX_SLOTS; i++)
		has |= (slot_final(&slots[i]) ^ tag) <= HT_INDEX_NODE;
	return has;
}

/*
 * The next node that may be the one searched for, 0: there is none.
 *
 * The slots of a line are used in order, and a node goes into the next level only when its line is
 * full, which no line ceases to be. So a node is in no slot after a free one. Two threads that put
 * the same node in pass over the same slots, each of which they compare, and meet at the same free
 * one: only one of them is successful.
 */
static uint32_t search_next(const struct segment *s, struct search *p)
{
	for (;;) {
		if (!p->slots && !(p->slots = line_slots(s, &p->line)))
			return 0;
		/* A full line is final, and can be read at once. NODE: who used the last slot has
		 * seen the others. */
		if (p->at == 0 && ht_load_acquire_32(&p->slots[HT_INDEX_SLOTS - 1]) &&
			!line_has(p->slots, p->tag))
			p->at = HT_INDEX_SLOTS;
		while (p->at < HT_INDEX_SLOTS) {
			uint32_t seen = ht_load_acquire_32(&p->slots[p->at]); /* NODE */

			if (seen == 0) {
				p->free = &p->slots[p->at];
				return 0;
			}
			p->at++;
			if ((seen ^ p->tag) <= HT_INDEX_NODE)
				return seen & HT_INDEX_NODE;
		}
		if (!line_next(s, &p->line))
			return 0;
		p->at = 0;
		p->slots = NULL;
	}
}

static bool node_is(const struct segment *s, uint32_t node, uint32_t parent, const struct frame *f)
{
	const struct ht_node *n = stack_node(s, node);

	return n->pc == f->pc && n->parent == parent && n->module == f->module;
}

/* The next child of `parent` for a frame that the search comes to, 0: there is none. */
static uint32_t search_child(
	const struct segment *s, struct search *p, uint32_t parent, const struct frame *f)
{
	uint32_t node;

	do
		node = search_next(s, p);
	while (node && !node_is(s, node, parent, f));
	return node;
}

static bool line_commit(const struct segment *s, const struct line *l)
{
	return commit_range(s, line_offset(s, l), sizeof(uint32_t)) == 0;
}

/* Starts a search behind all full lines, for a node that no other thread can have put in when they
 * were read. Commits the line's memory. False: no room, or no memory. */
static bool search_open(const struct segment *s, struct search *p, uint64_t hash)
{
	*p = search_start(s, hash);
	do {
		if (!line_commit(s, &p->line))
			return false;
		/* Relaxed: nothing is read through it. */
		if (!ht_load_relaxed_32(&line_slots(s, &p->line)[HT_INDEX_SLOTS - 1]))
			return true;
	} while (line_next(s, &p->line));
	return false;
}

/* Puts a new node in where the search is, unless one for the same stack comes there: then returns
 * that. 0: no room. */
static uint32_t index_put(const struct segment *s, struct search *p, uint32_t fresh)
{
	const struct ht_node *n = stack_node(s, fresh);
	const struct frame f = { n->pc, n->module };

	for (;;) {
		uint32_t node = search_child(s, p, n->parent, &f), none = 0;

		if (node)
			return node;
		if (p->free && ht_cas_acq_rel_32(p->free, &none, p->tag | fresh)) /* NODE */
			return fresh;
		/* Another thread's node is there, and comes next; or the line has no memory. */
		if (!p->free && (p->slots || !line_commit(s, &p->line)))
			return 0;
		p->free = NULL;
	}
}

/* ---- nodes ---- */

/* A way from the root into the tree, along a stack. */
struct way {
	uint32_t depth; /* frames of the stack on it */
	uint32_t node; /* where they lead; 0: the root */
	uint64_t hash; /* of them */
};

/* Allocates nodes, in a row, for the rest of a stack, leaf included. Commits memory for them and
 * for their places in the index first: while there is none, repeated stacks must not use up the
 * table. 0: no room. */
static uint32_t row_take(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	const uint64_t size = sizeof(struct ht_node),
		       capacity = segment_capacity(s, HT_REGION_NODES, size),
		       room = capacity < HT_NODES_MAX ? capacity : HT_NODES_MAX;
	uint32_t first = ht_load_relaxed_32(&s->header->nodes), count = t->count + 1 - w->depth;
	uint64_t hash = w->hash;
	struct search p;

	if (first + (uint64_t)count > room || !stack_ancestor_spares(s))
		return 0;
	for (uint32_t depth = w->depth; depth <= t->count; depth++) {
		hash = hash_of(t, depth, hash);
		if (!search_open(s, &p, hash))
			return 0;
	}
	do {
		uint64_t at = segment_element(s, HT_REGION_NODES, first, size);

		if (first + (uint64_t)count > room || commit_range(s, at, count * size) != 0)
			return 0;
	} while (!ht_cas_relaxed_32(&s->header->nodes, &first, first + count));
	return first;
}

static void node_fill(const struct segment *s, uint32_t node, uint32_t parent, struct frame f)
{
	struct ht_node *n = stack_node(s, node);

	n->pc = f.pc;
	n->parent = parent;
	n->module = f.module;
}

/* ---- the last stack's path ---- */

/* Whether the last stack had this frame here, after the same ones. */
static bool path_has(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	struct frame f = frame_of(t, w->depth);

	if (!t->path || w->depth >= t->path->count || w->depth == t->count)
		return false;
	return node_is(s, t->path->steps[w->depth].node, w->node, &f);
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

/* Whether a node is the leaf of a stack that begins like this. Notes the path as it goes: these
 * nodes are in the tree in any case. */
static bool leaf_is(
	const struct segment *s, const struct stack_trace *t, const struct way *w, uint32_t leaf)
{
	const struct ht_node *n = stack_node(s, leaf);

	if (n->pc != leaf_frame(t).pc)
		return false;
	for (uint32_t i = 0; i < t->count - w->depth; i++) {
		struct stack_step *step = path_step(t, t->count - 1 - i);
		uint32_t node = n->parent;

		n = stack_node(s, node);
		if (node == 0 || n->pc != t->pcs[i] || n->module != t->modules[i])
			return false;
		if (step)
			step->node = node;
	}
	return n->parent == w->node;
}

/* The leaf of a stack, by its hash, without looking for the nodes on the way. 0: there is none. */
static uint32_t leaf_find(const struct segment *s, const struct stack_trace *t, const struct way *w)
{
	uint64_t hash = w->hash;
	struct search p;
	uint32_t node;

	for (uint32_t depth = w->depth; depth < t->count; depth++) {
		struct stack_step *step = path_step(t, depth);

		hash = hash_of(t, depth, hash);
		if (step)
			step->hash = hash;
	}
	hash = hash_of(t, t->count, hash);
	index_prefetch(s, hash);
	p = search_start(s, hash);
	do
		node = search_next(s, &p);
	while (node && !leaf_is(s, t, w, node));
	return node;
}

/* Fetches what will be read for the rest of a stack, as far as is worth it. */
#define PREFETCH_FRAMES 16u
static void rest_prefetch(const struct segment *s, const struct stack_trace *t, struct way w)
{
	for (uint32_t i = 0; i < PREFETCH_FRAMES && w.depth + i < t->count; i++) {
		w.hash = hash_of(t, w.depth + i, w.hash);
		index_prefetch(s, w.hash);
	}
}

/* Goes on along a stack as far as nodes are known. *p is where the next one would be. */
static void way_known(
	const struct segment *s, const struct stack_trace *t, struct way *w, struct search *p)
{
	while (w->depth <= t->count) {
		struct frame f = frame_of(t, w->depth);
		uint64_t hash = hash_in(w->hash, &f);
		uint32_t node;

		*p = search_start(s, hash);
		node = search_child(s, p, w->node, &f);
		if (!node)
			return;
		way_step(t, w, node, hash);
	}
}

/*
 * Goes on to the leaf of a stack, and creates what is missing. False: the tree is full.
 *
 * From the outermost frame inwards, and a node's parent is in the index before the node is: so no
 * stack ever has two leaves, and a leaf that is found by its hash alone is the one.
 */
static bool leaf_make(const struct segment *s, const struct stack_trace *t, struct way *w)
{
	struct search p, next;
	uint32_t fresh, node;

	rest_prefetch(s, t, *w);
	way_known(s, t, w, &p);
	fresh = w->depth <= t->count ? row_take(s, t, w) : 0;
	for (; fresh && w->depth <= t->count; p = next) {
		uint64_t hash = hash_of(t, w->depth, w->hash);
		bool is_leaf = w->depth == t->count;
		uint64_t inner = is_leaf ? 0 : hash_of(t, w->depth + 1, hash);

		node_fill(s, fresh, w->node, frame_of(t, w->depth));
		/* Before the node is in: no other thread knows it, or has put in a child of it. */
		if (!is_leaf && !search_open(s, &next, inner))
			return false;
		node = index_put(s, &p, fresh);
		if (!node)
			return false;
		way_step(t, w, node, hash);
		/* Another thread put it in: perhaps a child, too. Ours serves for that, or at the
		 * end stays unused, once per race. */
		if (node == fresh)
			fresh++;
		else
			next = search_start(s, inner);
	}
	return w->depth > t->count;
}

/* The leaf of a stack; 0 when the tree is full: then *last is its innermost node there. */
static uint32_t leaf_of(const struct segment *s, const struct stack_trace *t, uint32_t *last)
{
	struct way w = way_along(s, t);
	uint32_t kept = w.depth, leaf = leaf_find(s, t, &w);
	bool made = !leaf && leaf_make(s, t, &w);

	if (leaf || made) {
		/* A stack that ends on the last one's path leaves the rest of that as it is. */
		if (kept < t->count)
			path_end(t, t->count);
		return leaf ? leaf : w.node;
	}
	path_end(t, w.depth);
	*last = w.node;
	return 0;
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
