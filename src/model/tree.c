/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree (tree.h). Nodes are in one array, parents before children, so that one backward
 * pass sums up; a hash of (parent, frame) finds a child. Called by the tree view on the main
 * thread. Frames are copied: those of stacks move when inlined calls are resolved.
 */
#include "src/model/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

#define TREE_TABLE_START 1024u
#define TREE_ID_ROOT	 0x9e3779b97f4a7c15ull

/* Where a site's stack ends, and the names it was added with. The row of ignored sites has the id
 * of one of them, which may be shown by itself once its names are known. */
struct tree_leaf {
	uint32_t node; /* 0: not in the tree */
	bool resolved;
	const struct stack *stack;
	uint64_t names_hash;
};

static const struct snap_module tree_nowhere = { .path = "", .name = "", .build_id = "" };

static void tree_clear(struct tree *t)
{
	free(t->node);
	free(t->table);
	free(t->leaf);
	t->node = NULL;
	t->table = NULL;
	t->leaf = NULL;
	t->count = t->capacity = t->mask = t->leaves = 0;
}

void tree_free(struct tree *t)
{
	tree_clear(t);
	t->owner = NULL;
}

/* ---- identity ----------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
	return mix(h, 1);
}

/* The path `parent` plus this frame; each address without a name is its own function. */
static uint64_t tree_id(uint64_t parent, const struct frame *f, bool missing)
{
	if (missing)
		return mix(parent, 2);
	if (f->function)
		return mix_text(parent, f->function);
	return mix_text(mix(parent, f->module->path[0] ? f->offset : f->pc), f->module->path);
}

static bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool frame_same(const struct frame *a, const struct frame *b)
{
	if (a->function || b->function)
		return text_same(a->function, b->function);
	return a->offset == b->offset && text_same(a->module->path, b->module->path) &&
	       (a->module->path[0] || a->pc == b->pc);
}

static uint32_t *tree_slot(const struct tree *t, uint64_t id)
{
	uint32_t i = (uint32_t)id & t->mask;

	while (t->table[i] && t->node[t->table[i]].id != id)
		i = (i + 1) & t->mask;
	return &t->table[i];
}

uint32_t tree_find(const struct tree *t, uint64_t id)
{
	uint32_t at;

	if (!t->count)
		return TREE_NONE;
	if (id == TREE_ID_ROOT)
		return TREE_ROOT;
	at = *tree_slot(t, id);
	return at ? at : TREE_NONE;
}

uint32_t tree_leaf_of(const struct tree *t, uint32_t site)
{
	return site < t->leaves && t->leaf[site].node ? t->leaf[site].node : TREE_NONE;
}

bool tree_is_below(const struct tree *t, uint32_t node, uint32_t above)
{
	/* Parents come first, so a node before `above` cannot be below it. */
	while (node > above)
		node = t->node[node].parent;
	return node == above;
}

/* ---- adding ------------------------------------------------------------------------------- */

static int tree_start(struct tree *t)
{
	tree_clear(t);
	t->capacity = t->mask = TREE_TABLE_START;
	t->mask--;
	t->node = malloc(t->capacity * sizeof(*t->node));
	t->table = calloc(t->mask + 1ull, sizeof(*t->table));
	if (!t->node || !t->table)
		return -ENOMEM;
	t->node[TREE_ROOT] =
		(struct tree_node){ .id = TREE_ID_ROOT, .frame = { .module = &tree_nowhere } };
	t->count = 1;
	return 0;
}

static int tree_table_grow(struct tree *t)
{
	uint32_t *bigger = calloc((t->mask + 1ull) * 2, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	free(t->table);
	t->table = bigger;
	t->mask = t->mask * 2 + 1;
	for (uint32_t i = 1; i < t->count; i++)
		*tree_slot(t, t->node[i].id) = i;
	return 0;
}

static int tree_reserve(struct tree *t)
{
	struct tree_node *node;

	if (t->count * 2ull > t->mask && tree_table_grow(t) != 0)
		return -ENOMEM;
	if (t->count < t->capacity)
		return 0;
	node = realloc(t->node, t->capacity * 2ull * sizeof(*node));
	if (!node)
		return -ENOMEM;
	t->node = node;
	t->capacity *= 2;
	return 0;
}

/* In place of the frames that a stack lacks. */
static const struct frame tree_outer = { .function = "(outer frames are missing)",
	.module = &tree_nowhere };
static const struct frame tree_inner = { .function = "(deeper calls not kept)",
	.module = &tree_nowhere };

/* The child of `parent` for this frame, created if necessary. */
static int tree_step(struct tree *t, uint32_t parent, const struct frame *frame, uint32_t *child)
{
	bool missing = frame == &tree_outer || frame == &tree_inner;
	uint64_t id = tree_id(t->node[parent].id, frame, missing);
	struct tree_node *n;

	/* Two paths with one hash: the later one gets the next free id. */
	while ((*child = *tree_slot(t, id)) != 0) {
		n = &t->node[*child];
		if (n->parent == parent && n->missing == missing && frame_same(&n->frame, frame)) {
			n->place_differs |= n->frame.line != frame->line ||
					    !text_same(n->frame.file, frame->file);
			return 0;
		}
		id++;
	}
	if (tree_reserve(t) != 0)
		return -ENOMEM;
	n = &t->node[ *child = t->count++];
	*n = (struct tree_node){ .frame = *frame,
		.missing = missing,
		.parent = parent,
		.next = t->node[parent].child,
		.id = id };
	t->node[parent].child = *child;
	*tree_slot(t, id) = *child;
	return 0;
}

static bool stack_all_hidden(const struct stack *st)
{
	for (uint32_t i = 0; i < st->nframes; i++)
		if (!snapshot_frame(st, i)->hidden)
			return false;
	return true;
}

/* Adds a stack. *leaf: its last node. */
static int tree_add(struct tree *t, const struct stack *st, uint32_t *leaf)
{
	const struct frame *outer = st->truncated ? &tree_outer : NULL;
	const struct frame *inner = st->ancestor ? &tree_inner : NULL;
	bool all = t->hidden_shown || stack_all_hidden(st);
	uint32_t at = TREE_ROOT;
	const struct frame *first = t->inverted ? inner : outer,
			   *last = t->inverted ? outer : inner;
	int rc = first ? tree_step(t, at, first, &at) : 0;

	for (uint32_t i = 0; rc == 0 && i < st->nframes; i++) {
		const struct frame *f = snapshot_frame(st, t->inverted ? i : st->nframes - 1 - i);

		if (all || !f->hidden)
			rc = tree_step(t, at, f, &at);
	}
	if (rc == 0 && last)
		rc = tree_step(t, at, last, &at);
	*leaf = at;
	return rc;
}

/* ---- one snapshot ------------------------------------------------------------------------- */

static int tree_leaves_reserve(struct tree *t, const struct snapshot *snap)
{
	size_t most = 0, capacity;
	struct tree_leaf *leaf;

	for (size_t i = 0; i < snap->nsites; i++)
		most = snap->sites[i].id > most ? snap->sites[i].id : most;
	if (most < t->leaves)
		return 0;
	capacity = most + most / 2 + 64;
	leaf = array_extend(t->leaf, t->leaves, capacity, sizeof(*leaf));
	if (!leaf)
		return -ENOMEM;
	t->leaf = leaf;
	t->leaves = capacity;
	return 0;
}

/* A hash that changes with any of the names. */
static uint64_t stack_names_hash(const struct stack *st)
{
	uint64_t h = st->nframes;

	for (uint32_t i = 0; i < st->nframes; i++)
		h = mix(h, (uintptr_t)snapshot_frame(st, i)->function);
	return h;
}

/* Whether a site's stack, or its names, are others than when it was added. */
static bool tree_outdated(const struct tree *t, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nsites; i++) {
		const struct snap_site *site = &snap->sites[i];
		const struct tree_leaf *leaf = site->id < t->leaves ? &t->leaf[site->id] : NULL;

		if (!leaf || !leaf->node)
			continue;
		if (leaf->stack != site->stack ||
			(!leaf->resolved && leaf->names_hash != stack_names_hash(site->stack)))
			return true;
	}
	return false;
}

static int tree_place(struct tree *t, const struct snap_site *site)
{
	struct tree_leaf *leaf = &t->leaf[site->id];
	uint32_t node;
	int rc;

	if (leaf->node)
		return 0;
	rc = tree_add(t, site->stack, &node);
	if (rc)
		return rc;
	*leaf = (struct tree_leaf){
		.node = node, .resolved = site->stack->resolved, .stack = site->stack
	};
	if (!leaf->resolved)
		leaf->names_hash = stack_names_hash(site->stack);
	return 0;
}

static void tree_zero(struct tree *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct tree_node *n = &t->node[i];

		n->total_bytes = n->self_bytes = n->blocks = n->sites = 0;
		n->rate_bytes_per_s = n->allocs_per_s = n->error2 = 0;
		n->since_bytes = n->since_blocks = 0;
		n->since_alloc = n->since_freed = n->moved = 0;
	}
}

static void tree_count_since(
	struct tree_node *n, const struct snap_site *site, const struct value_info *compared)
{
	uint64_t freed = snapshot_since_freed(&site->since);
	int64_t change = compared ? snapshot_delta(site) : site->since.bytes;

	snapshot_change_add(&n->since_bytes, change);
	snapshot_change_add(&n->since_blocks, site->since.blocks);
	n->since_alloc += site->since.alloc_bytes;
	n->since_freed += freed;
	if (compared)
		n->moved += change < 0 ? -(uint64_t)change : (uint64_t)change;
	else
		n->moved += site->since.alloc_bytes + freed;
}

static void tree_count(struct tree *t, const struct snap_site *site)
{
	struct tree_node *n = &t->node[t->leaf[site->id].node];

	n->self_bytes += value_of(site, t->value);
	n->total_bytes += value_of(site, t->value);
	n->blocks += site->live_blocks;
	n->sites++;
	n->rate_bytes_per_s += site->rate_bytes_per_s;
	n->allocs_per_s += site->allocs_per_s;
	n->error2 += (double)site->error.live_bytes * (double)site->error.live_bytes;
}

static void tree_sum(struct tree *t)
{
	for (uint32_t i = t->count; i-- > 1;) {
		const struct tree_node *n = &t->node[i];
		struct tree_node *p = &t->node[n->parent];

		p->total_bytes += n->total_bytes;
		p->blocks += n->blocks;
		p->sites += n->sites;
		p->rate_bytes_per_s += n->rate_bytes_per_s;
		p->allocs_per_s += n->allocs_per_s;
		p->error2 += n->error2;
		snapshot_change_add(&p->since_bytes, n->since_bytes);
		snapshot_change_add(&p->since_blocks, n->since_blocks);
		p->since_alloc += n->since_alloc;
		p->since_freed += n->since_freed;
		p->moved += n->moved;
	}
}

static int tree_fill(struct tree *t, const struct snapshot *snap)
{
	int rc = t->count ? 0 : tree_start(t);

	if (rc == 0)
		rc = tree_leaves_reserve(t, snap);
	for (size_t i = 0; rc == 0 && i < snap->nsites; i++)
		rc = tree_place(t, &snap->sites[i]);
	if (rc)
		return rc;
	tree_zero(t);
	for (size_t i = 0; i < snap->nsites; i++) {
		tree_count(t, &snap->sites[i]);
		if (snap->since || snap->moment == SNAP_RANGE)
			tree_count_since(&t->node[t->leaf[snap->sites[i].id].node], &snap->sites[i],
				snap->compared);
	}
	tree_sum(t);
	return 0;
}

/* Takes over marks and ranks from the previous tree. */
static void tree_inherit(struct tree *t, const struct tree *before)
{
	for (uint32_t i = 0; i < before->count; i++) {
		const struct tree_node *old = &before->node[i];
		uint32_t at = old->marks ? tree_find(t, old->id) : TREE_NONE;

		if (at != TREE_NONE) {
			t->node[at].marks = old->marks;
			t->node[at].rank = old->rank;
		}
	}
}

int tree_update(struct tree *t, const struct snapshot *snap, bool inverted, bool hidden_shown)
{
	struct tree before = { 0 };
	int rc;

	if (t->owner != snap->owner || t->inverted != inverted)
		tree_clear(t);
	t->owner = snap->owner;
	t->inverted = inverted;
	if (t->count && (t->hidden_shown != hidden_shown || tree_outdated(t, snap))) {
		before = *t;
		t->node = NULL;
		t->table = NULL;
		t->leaf = NULL;
		t->count = t->leaves = 0;
	}
	t->hidden_shown = hidden_shown;
	rc = tree_fill(t, snap);
	if (rc)
		tree_clear(t);
	else
		tree_inherit(t, &before);
	tree_clear(&before);
	return rc;
}
