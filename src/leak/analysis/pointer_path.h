/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a block is still reachable: a shortest path of pointers from a root. For a lost block, the
 * path from the definite block that leads it. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_POINTER_PATH_H
#define SRC_LEAK_ANALYSIS_POINTER_PATH_H

#include "src/leak/analysis/graph.h"

struct leak_pointer_path {
	/* Per block: the previous block of its shortest path; itself: a root points to it, or it is
	 * definite; LEAK_NONE: no path was found. */
	uint32_t *parent;
	uint32_t *holders; /* per block: pointers to it in blocks */
};

/* Finds the paths in a classified graph. A reachable block's path has only pointers that make it
 * reachable. 0 or -ENOMEM. */
int leak_pointer_path_make(struct leak_pointer_path *t, const struct leak_graph *g);
void leak_pointer_path_free(struct leak_pointer_path *t);

#endif
