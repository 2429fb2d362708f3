/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that ld.so allocated, above all for thread-local data. It keeps pointers to them in ways
 * of its own. One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LOADER_BLOCKS_H
#define SRC_LEAK_ANALYSIS_LOADER_BLOCKS_H

#include "src/leak/analysis/graph.h"
#include "src/read/read.h"

/* Makes such blocks reachable. 0 or -errno. */
int leak_loader_blocks_mark(struct read_segment *segment, struct leak_graph *g);

#endif
