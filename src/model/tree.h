/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree of a snapshot's sites: which function, called from where, holds how much. Top-down
 * the root's children are the outermost frames; inverted they are the functions that allocate, and
 * their children the callers. The shape is kept from one snapshot to the next, so that a new one
 * costs a pass over sites and nodes; it is made anew when names have come in. Main thread.
 */
#ifndef SRC_MODEL_TREE_H
#define SRC_MODEL_TREE_H

#include "src/model/snapshot.h"

#define TREE_ROOT 0u
#define TREE_NONE UINT32_MAX

struct tree_node {
	struct frame frame; /* one of those merged here: same function, called from the same */
	bool place_differs; /* they are at different lines */
	bool missing; /* no frame: stands for the outer end of stacks that were cut off */
	unsigned char marks; /* the owner's; kept while the node's path exists */
	uint32_t parent; /* always before the node; the root is its own */
	uint32_t child, next; /* first child, next sibling; 0: none */
	uint32_t rank; /* the owner's; kept as `marks` */
	uint32_t row; /* the owner's; not kept */
	uint64_t id; /* of the path from the root: the same in every tree of these stacks */
	/* Of all stacks that go through here, and of those that end here. */
	uint64_t total_bytes, self_bytes, blocks;
	uint64_t sites;
	double rate_bytes_per_s, allocs_per_s;
	double error2; /* of total_bytes: the squares of its stacks' errors, which do not add up */
};

struct tree {
	struct tree_node *node; /* [TREE_ROOT] first; nodes move when the tree is updated */
	uint32_t count;
	/* The rest is tree.c's. */
	uint32_t capacity, mask;
	uint32_t *table; /* node numbers, by id */
	struct tree_leaf *leaf; /* by site id */
	uint32_t leaves;
	const void *owner;
	bool inverted, hidden_shown;
};

/* An empty tree is all zeros. tree_free frees what it holds, not `t`. */
void tree_free(struct tree *t);
/*
 * Makes it the tree of this snapshot. `hidden_shown`: frames of allocators and standard libraries
 * are nodes, too; else only in stacks of nothing else. Marks and ranks stay with their paths while
 * the owner of the snapshots and `inverted` stay the same. 0 or -ENOMEM: then it is empty.
 */
int tree_update(struct tree *t, const struct snapshot *snap, bool inverted, bool hidden_shown);
/* The node with this id, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, uint64_t id);
/* The node where the stack of this site ends, or TREE_NONE. */
uint32_t tree_leaf_of(const struct tree *t, uint32_t site);
/* Whether `node` is `above` or somewhere below it. */
bool tree_is_below(const struct tree *t, uint32_t node, uint32_t above);

#endif
