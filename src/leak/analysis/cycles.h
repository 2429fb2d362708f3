/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cycles among leaks: lost blocks that lead to each other, and that no lost block outside leads to.
 * memcheck calls one of each definite, the lowest, and the others indirect; which call site gets
 * the blame is chance. Cycles of the same call sites are counted together. Source: Tarjan,
 * "Depth-first search and linear graph algorithms" (1972), without recursion. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_CYCLES_H
#define SRC_LEAK_ANALYSIS_CYCLES_H

#include "src/leak/analysis/graph.h"

#define LEAK_CYCLE_SITES 4u /* those of one cycle that are named */
#define LEAK_CYCLES_MOST 512u /* kinds of cycles that are counted; further ones are not */

struct leak_cycle {
	uint32_t site[LEAK_CYCLE_SITES];
	uint32_t sites; /* different ones; more than LEAK_CYCLE_SITES are not named */
	uint64_t times; /* number of such cycles */
	uint64_t blocks, bytes; /* in all of them, without what they lead to */
	uint64_t retained_blocks, retained_bytes; /* what would go with them, themselves included */
};

/*
 * Finds those of a classified graph, most bytes first; *out is the caller's to free. `leader`:
 * called for the definite block of each that is counted; it adds what that retains, which is what
 * the cycle does. May be NULL. Returns how many kinds, or -ENOMEM.
 */
int leak_cycles_find(const struct leak_graph *g, struct leak_cycle **out,
	void (*leader)(void *ctx, uint32_t block, struct leak_cycle *of), void *ctx);

#endif
