/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learns at which offset programs keep their pointers to a kind of block, if that is not its start:
 * redis' strings have their length before the first character, Python's objects the collector's
 * links, sqlite's pages their header behind. All pointers to such blocks go to the same offset. A
 * number that only looks like a pointer would go anywhere in a block. So if several blocks are
 * reached only by pointers to one offset, a pointer to it counts as one to the start. Pure; one
 * thread.
 */
#ifndef SRC_LEAK_ANALYSIS_LEARNED_OFFSETS_H
#define SRC_LEAK_ANALYSIS_LEARNED_OFFSETS_H

#include "src/leak/analysis/graph.h"

/*
 * After leak_classes_assign: finds such offsets of possible blocks, and marks the pointers to them
 * LEAK_BY_HEADER. 1: there are any, and the classes must be assigned again; 0: none; or -ENOMEM.
 */
int leak_learned_offsets_find(struct leak_graph *g);

#endif
