/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that are lost in several passes. A lost block stays lost; a block that only seemed lost,
 * because its pointer was where the pass could not read it, soon does not. Two blocks are the same
 * if address, call site and birth are. Blocks that are unsure (blocks.h) are never lost. Pure; one
 * thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LOST_BLOCKS_H
#define SRC_LEAK_ANALYSIS_LOST_BLOCKS_H

#include "src/leak/analysis/graph.h"

struct leak_lost_blocks {
	struct leak_block *block; /* by address */
	size_t count;
};

/* Collects the lost blocks of a classified graph. 0 or -ENOMEM. */
int leak_lost_blocks_collect(struct leak_lost_blocks *l, const struct leak_graph *g);
void leak_lost_blocks_free(struct leak_lost_blocks *l);
/* Drops blocks that are not lost in this graph. Returns how many. */
size_t leak_lost_blocks_intersect(struct leak_lost_blocks *l, const struct leak_graph *g);
/* Makes all blocks reachable that are not in `then`, and drops unsure blocks to which nothing
 * points. True: there are any, and the classes must be assigned again. */
bool leak_lost_blocks_apply(const struct leak_lost_blocks *then, struct leak_graph *g);

#endif
