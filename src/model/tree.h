/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree of a snapshot's sites: the live bytes of each function by caller. Top-down the
 * root's children are the outermost frames; inverted they are the functions that allocate, and
 * their children the callers. The shape is kept between snapshots, so that a new snapshot costs one
 * pass over sites and nodes; it is rebuilt when names arrive. Main thread.
 */
#ifndef SRC_MODEL_TREE_H
#define SRC_MODEL_TREE_H

#include "src/model/value.h"

#define TREE_ROOT 0u
#define TREE_NONE UINT32_MAX

struct tree_node {
	struct frame frame; /* one of the frames merged here: same function, same callers */
	bool place_differs; /* the frames are at different lines */
	bool missing; /* no frame: represents the frames that stacks lack, outer or inner ones */
	unsigned char marks; /* private to the owner; kept while the node's path exists */
	uint32_t parent; /* always before the node; the root is its own */
	uint32_t child, next; /* first child, next sibling; 0: none */
	uint32_t rank; /* private to the owner; kept as `marks` */
	uint32_t row; /* private to the owner; not kept */
	uint64_t id; /* of the path from the root; the same in every tree of these stacks */
	/* Sums over the stacks that pass through here; self_bytes over those that end here. */
	uint64_t total_bytes, self_bytes, blocks;
	uint64_t sites;
	double rate_bytes_per_s, allocs_per_s;
	/* Sums of the sites' `since`; in a diff, since_bytes is of the compared figure's change. */
	int64_t since_bytes, since_blocks;
	uint64_t since_alloc, since_freed; /* bytes */
	uint64_t
		moved; /* how much changed, up or down: what folding goes by, besides total_bytes */
	double error2; /* of total_bytes: the sum of its stacks' squared errors */
};

struct tree {
	struct tree_node *node; /* [TREE_ROOT] first; nodes move when the tree is updated */
	uint32_t count;
	/* Private to tree.c. */
	uint32_t capacity, mask;
	uint32_t *table; /* node numbers, by id */
	struct tree_leaf *leaf; /* by site id */
	size_t leaves;
	const void *owner;
	bool inverted, hidden_shown;
	/* Set by the owner before tree_update: the figure that total_bytes and self_bytes are sums
	 * of, and their error is not. */
	enum snap_value value;
};

/* An empty tree is all zeros. tree_free frees the content, not `t`. */
void tree_free(struct tree *t);
/*
 * Makes it the tree of this snapshot. `hidden_shown`: frames of allocators and standard libraries
 * are nodes, too; otherwise only in stacks that have no others. Marks and ranks stay with their
 * paths while the owner of the snapshots and `inverted` stay the same. 0 or -ENOMEM: then it is
 * empty.
 */
int tree_update(struct tree *t, const struct snapshot *snap, bool inverted, bool hidden_shown);
/* The node with this id, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, uint64_t id);
/* The node where the stack of this site ends, or TREE_NONE. */
uint32_t tree_leaf_of(const struct tree *t, uint32_t site);
/* Whether `node` is `above` or a descendant of it. */
bool tree_is_below(const struct tree *t, uint32_t node, uint32_t above);

#endif
