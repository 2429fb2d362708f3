/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where programs keep their pointers to a kind of block, when that is not its start: redis' strings
 * have their length before the first character, Python's objects the collector's links, pages of
 * sqlite what is told of them behind. Pointers to such blocks all go to the same place. A number
 * that only looks like a pointer would go anywhere in a block, so where several blocks of a program
 * are reached by pointers to one such place alone, a pointer there is as good as one to the start.
 * Pure; one thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LEARNED_OFFSETS_H
#define SRC_LEAK_ANALYSIS_LEARNED_OFFSETS_H

#include "src/leak/analysis/graph.h"

/*
 * After leak_classes_assign: looks for such places of blocks that are possible. With any, marks the
 * pointers to them LEAK_BY_HEADER; then the graph is to be classified again. 1: there are
 * any; 0 or -ENOMEM.
 */
int leak_learned_offsets_find(struct leak_graph *g);

#endif
