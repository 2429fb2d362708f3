/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dominators of a directed graph: the nodes that every path from the start goes through. Source:
 * Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979), with path
 * compression alone: O(edges * log(nodes)) at worst, without recursion. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_DOMINATORS_H
#define SRC_LEAK_ANALYSIS_DOMINATORS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LEAK_NO_NODE UINT32_MAX

/* Node 0 is the start. */
struct leak_flow {
	uint32_t nodes;
	/* The next node that `node` leads to; *cursor is 0 at first, and the function's own.
	 * Several edges to one node are fine. LEAK_NO_NODE: no more. */
	uint32_t (*next)(void *ctx, uint32_t node, uint32_t *cursor);
	void *ctx;
	const atomic_bool *stop; /* set: the result is no longer wanted */
};

/* The nodes that the start leads to, in an order in which each follows its dominator: number 0 is
 * the start. */
struct leak_dominators {
	uint32_t count;
	uint32_t *node; /* per number */
	uint32_t *number; /* per node; LEAK_NO_NODE: the start does not lead to it */
	uint32_t *dominator; /* per number: the number of its immediate dominator; 0 for 0 */
};

/* Takes 44 bytes a node while it works, and 8 for each edge but the one by which a node was found;
 * 12 a node afterwards. 0, -ENOMEM, -E2BIG, or -ECANCELED. */
int leak_dominators_find(struct leak_dominators *d, const struct leak_flow *f);
void leak_dominators_free(struct leak_dominators *d);

#endif
