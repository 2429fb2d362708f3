/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a block is still alive: of the pointers by which it is reached, a way from a root. Of a lost
 * one, the way from the block that was lost with it. Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_POINTER_PATH_H
#define SRC_LEAK_ANALYSIS_POINTER_PATH_H

#include "src/leak/analysis/graph.h"

struct leak_pointer_path {
	/* By block. From where it is reached by the fewest steps; itself: from a root, or it is
	 * definite; LEAK_NONE: no such way was found. */
	uint32_t *parent;
	uint32_t *holders; /* pointers to it in blocks */
};

/* Of a classified graph. Where a block is reachable, the way is such that it is. 0 or -ENOMEM. */
int leak_pointer_path_make(struct leak_pointer_path *t, const struct leak_graph *g);
void leak_pointer_path_free(struct leak_pointer_path *t);

#endif
