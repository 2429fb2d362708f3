/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is lost in one scan and in the next ones, too. Garbage stays garbage; a block that only
 * seemed lost, because its pointer was just where the scan could not look, is not so for long. The
 * same is a block of the same address, call site, and birth. Blocks that are unsure (blocks.h) are
 * never lost. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LOST_BLOCKS_H
#define SRC_LEAK_ANALYSIS_LOST_BLOCKS_H

#include "src/leak/analysis/graph.h"

struct leak_lost_blocks {
	struct leak_block *block; /* in the order of addresses */
	size_t count;
};

/* The blocks of a classified graph that are not reachable. 0 or -ENOMEM. */
int leak_lost_blocks_collect(struct leak_lost_blocks *l, const struct leak_graph *g);
void leak_lost_blocks_free(struct leak_lost_blocks *l);
/* Forgets those that are not lost now. Returns how many. */
size_t leak_lost_blocks_intersect(struct leak_lost_blocks *l, const struct leak_graph *g);
/* Takes those that were not lost then for such as are in use; those that are unsure, and that
 * nothing points to, for such as are not there. True: there are any, and the graph is to be
 * classified again. */
bool leak_lost_blocks_apply(const struct leak_lost_blocks *then, struct leak_graph *g);

#endif
