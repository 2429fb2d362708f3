/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Retained sizes for people: the dominators of millions of blocks as a tree of roots and call
 * sites, and the retained bytes of each call site. Pure; one thread.
 *
 * The tree: below each root the call sites of the blocks that it holds directly, below a call site
 * those that its blocks hold. A block of a site that is above it already, as in a list, counts in
 * that one; so do all below HOLDER_TREE_DEPTH. A node's sum is its own blocks' and its children's,
 * and the sum of all roots is the heap.
 */
#ifndef SRC_LEAK_ANALYSIS_HOLDER_TREE_H
#define SRC_LEAK_ANALYSIS_HOLDER_TREE_H

#include "src/leak/analysis/holders.h"

#define HOLDER_TREE_DEPTH 12u
#define HOLDER_TREE_MOST  4096u /* nodes kept, those with most bytes */

struct leak_holder {
	uint32_t parent; /* index in leak_holder_tree.node, lower than its own; LEAK_NONE: a root */
	const char *name; /* a root's, from the struct leak_holders; NULL: a call site */
	uint32_t site;
	uint32_t depth; /* 0: a root */
	uint64_t blocks, bytes; /* its own */
	uint64_t all_blocks, all_bytes; /* with all below it */
};

/* Blocks that no single root holds. */
extern const char leak_holder_tree_several[];

/* Depth first; siblings by all_bytes, most first. Small nodes are left out, with all below them. */
struct leak_holder_tree {
	struct leak_holder *node;
	size_t count;
	uint64_t blocks, bytes; /* of all roots */
};

/* 0 or -ENOMEM, with nothing to free. */
int leak_holder_tree_make(struct leak_holder_tree *t, const struct leak_holders *h);
void leak_holder_tree_free(struct leak_holder_tree *t);

/*
 * Calls `outermost` for each block that none of the same call site holds, with what it retains: the
 * sum over a site's is what its blocks keep alive, each by itself, without counting any twice.
 * `sites`: above all sites' ids. 0 or -ENOMEM.
 */
int leak_holder_tree_sites(const struct leak_holders *h, uint32_t sites,
	void (*outermost)(void *ctx, uint32_t block, uint64_t blocks, uint64_t bytes), void *ctx);

#endif
