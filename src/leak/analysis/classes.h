/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides the class of each block, as memcheck defines them. Pure; one thread.
 *
 * reachable: a path from a root leads to it by pointers to starts, or by interior pointers that a
 * heuristic explains. possible: only a path with another interior pointer leads to it. The other
 * blocks are lost: indirect, if another lost block leads to it; definite, if none does. The blocks
 * that are reached from one definite block are its clique; of a cycle, the block with the lowest
 * address is the leader, as in memcheck.
 */
#ifndef SRC_LEAK_ANALYSIS_CLASSES_H
#define SRC_LEAK_ANALYSIS_CLASSES_H

#include "src/leak/analysis/graph.h"

enum leak_class { LEAK_DEFINITE, LEAK_INDIRECT, LEAK_POSSIBLE, LEAK_REACHABLE, LEAK_CLASSES };

/* Sets class, heuristic and leader of all blocks of a complete graph. 0 or -ENOMEM, also if memory
 * was short for the graph. */
int leak_classes_assign(struct leak_graph *g);

#endif
