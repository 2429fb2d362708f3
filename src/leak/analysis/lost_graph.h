/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which lost blocks point to which: kept of a scan's graph, that it can be told later what goes
 * with a leak that is suppressed. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LOST_GRAPH_H
#define SRC_LEAK_ANALYSIS_LOST_GRAPH_H

#include "src/leak/analysis/graph.h"

/* Definite, indirect and possible blocks, by address. All zeros: none were kept. */
struct leak_lost_graph {
	uint32_t count;
	uint32_t *row; /* of the result; LEAK_NONE: it is not counted in any */
	uint32_t *leader; /* number here, of the definite block that leads an indirect one; else
			     LEAK_NONE */
	uint64_t *size;
	/* Those that block i points to: edge[first[i]] up to, without it, edge[first[i + 1]]. */
	uint64_t *first;
	uint32_t *edge;
};

/*
 * Of a classified graph. `row` tells the row of a lost block. `number` is filled in, by block:
 * LEAK_NONE is one that is not lost. 0 or -ENOMEM.
 */
int leak_lost_graph_make(struct leak_lost_graph *l, const struct leak_graph *g,
	uint32_t (*row)(void *ctx, uint32_t block), void *ctx, uint32_t *number);
void leak_lost_graph_free(struct leak_lost_graph *l);
/* Marks all that a way leads to from a marked one. 0 or -ENOMEM, with nothing more marked. */
int leak_lost_graph_reach(const struct leak_lost_graph *l, bool *marked);

#endif
