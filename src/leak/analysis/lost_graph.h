/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a scan's graph that has lost blocks, kept to find later what a suppressed leak leads
 * to. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LOST_GRAPH_H
#define SRC_LEAK_ANALYSIS_LOST_GRAPH_H

#include "src/leak/analysis/graph.h"

/* Definite, indirect and possible blocks, by address. All 0: none were kept. */
struct leak_lost_graph {
	uint32_t count;
	uint32_t *row; /* the result's row; LEAK_NONE: it is counted in none */
	uint32_t *leader; /* of an indirect block: its leader's number here; or LEAK_NONE */
	uint64_t *size;
	/* The blocks that block i points to: edge[first[i]] to edge[first[i + 1] - 1]. */
	uint64_t *first;
	uint32_t *edge;
};

/*
 * Makes one from a classified graph. `row` returns the row of a lost block. Fills in `number` per
 * block: LEAK_NONE if it is not lost. 0 or -ENOMEM.
 */
int leak_lost_graph_make(struct leak_lost_graph *l, const struct leak_graph *g,
	uint32_t (*row)(void *ctx, uint32_t block), void *ctx, uint32_t *number);
void leak_lost_graph_free(struct leak_lost_graph *l);
/* Marks all blocks that marked ones lead to. 0, or -ENOMEM with nothing more marked. */
int leak_lost_graph_reach(const struct leak_lost_graph *l, bool *marked);

#endif
