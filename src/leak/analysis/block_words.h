/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the words of all blocks, of a stopped process or of its copy, into the graph. Called by one
 * thread; creates others while it runs.
 */
#ifndef SRC_LEAK_ANALYSIS_BLOCK_WORDS_H
#define SRC_LEAK_ANALYSIS_BLOCK_WORDS_H

#include "src/leak/analysis/graph.h"
#include "src/leak/access/space.h"

#define LEAK_READERS_MAX 4u /* more would wait for memory */

/* How many threads are to read: as many as there are processors for us, of which the program takes
 * one while it `runs`. One if the program's library reads for us. */
unsigned leak_block_words_readers(const struct leak_space *s, bool runs);
/* Reads by so many threads, this one included; the result is the same. Leaves the graph joined. */
void leak_block_words_scan(struct leak_space *s, struct leak_graph *g, unsigned readers);

#endif
