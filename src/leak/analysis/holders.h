/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each block keeps alive: its retained size, the bytes that nothing would reach if the block
 * were gone, itself included. And what each root does, by its name: the words of one variable, of
 * one function's frames, are one root. From the dominators of the graph (dominators.h).
 *
 * An edge counts if it makes its block what it is: for a reachable block, a pointer from a root or
 * a reachable block, to its start or explained by a heuristic; for a possible one, any pointer from
 * there or from a possible block; for a lost one, any pointer from a lost one. Lost blocks have a
 * root of their own, which leads to the definite ones.
 *
 * Pure, but for the names; one thread. Takes some 60 bytes per block while it works.
 */
#ifndef SRC_LEAK_ANALYSIS_HOLDERS_H
#define SRC_LEAK_ANALYSIS_HOLDERS_H

#include "src/leak/analysis/dominators.h"
#include "src/leak/analysis/root_names.h"

/* The roots' nodes. */
#define LEAK_HOLDERS_START   0u
#define LEAK_HOLDERS_LOST    1u /* leads to the definite blocks */
#define LEAK_HOLDERS_KEPT    2u /* blocks that count as reachable whatever points to them */
#define LEAK_HOLDERS_NO_SITE UINT32_MAX
#define LEAK_HOLDERS_NAMED   3u /* the first of the roots with names */

struct leak_holders {
	const struct leak_graph *graph;
	uint32_t roots; /* the nodes below it are roots; node `roots` + i is block i */
	const char **name; /* per root; NULL for the start */
	struct leak_dominators tree;
	uint64_t *bytes, *blocks; /* per number in the tree: retained */
	uint32_t *site; /* per number: the block's; LEAK_HOLDERS_NO_SITE: it is a root */
	/* The blocks that a named root points to: target[first[r]] to target[first[r + 1] - 1]. */
	uint32_t *first, *target;
	void *names; /* owns the names */
};

/*
 * After the classes are assigned. The graph has kept its root words, and stays until this is freed.
 * 0, or -errno with nothing to free; -E2BIG: there are too many of them.
 */
int leak_holders_make(
	struct leak_holders *h, const struct leak_root_context *found, const atomic_bool *stop);
void leak_holders_free(struct leak_holders *h);
/* A block's number in the tree; LEAK_NO_NODE: nothing leads to it. */
uint32_t leak_holders_number(const struct leak_holders *h, uint32_t block);
/* The block with that number; LEAK_NONE: it is a root's. */
uint32_t leak_holders_block(const struct leak_holders *h, uint32_t number);
/* The edges that count: as leak_flow.next, with a struct leak_holders. */
uint32_t leak_holders_next(void *holders, uint32_t node, uint32_t *cursor);

#endif
