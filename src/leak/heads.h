/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What heuristics look at in the memory of another process (space.h): single words, and whether a
 * table of functions lies somewhere. One thread.
 */
#ifndef SRC_LEAK_HEADS_H
#define SRC_LEAK_HEADS_H

#include "src/leak/graph.h"
#include "src/leak/space.h"

#define LEAK_HEADS_TABLES 1024u /* remembered: most objects are of few classes */

struct leak_heads {
	struct leak_space *space;
	uint64_t table[LEAK_HEADS_TABLES];
	bool is_table[LEAK_HEADS_TABLES];
};

/* For leak_graph_explain, as long as `h` and `s` are there. */
struct leak_memory leak_heads_memory(struct leak_heads *h, struct leak_space *s);

#endif
