/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads single words of another process's memory (space.h) for heuristics, and finds vtables in it.
 * One thread.
 */
#ifndef SRC_LEAK_ANALYSIS_WORD_READER_H
#define SRC_LEAK_ANALYSIS_WORD_READER_H

#include <sys/uio.h>

#include "src/leak/analysis/graph.h"
#include "src/leak/access/space.h"

#define LEAK_WORD_READER_TABLES 1024u /* cached: most objects are of few classes */
#define LEAK_WORD_READER_WORDS	1024u /* words that one process_vm_readv takes: UIO_MAXIOV */

/* Some 60 KB: not for the stack. */
struct leak_word_reader {
	struct leak_space *space;
	struct iovec here[LEAK_WORD_READER_WORDS], there[LEAK_WORD_READER_WORDS]; /* of one call */
	uint64_t value[LEAK_WORD_READER_WORDS];
	uint64_t table[LEAK_WORD_READER_TABLES];
	bool is_table[LEAK_WORD_READER_TABLES];
};

/* The interface of struct leak_memory, valid while `h` and `s` are. */
struct leak_memory leak_word_reader_memory(struct leak_word_reader *h, struct leak_space *s);
/* Explains interior pointers by the words there: leak_graph_explain, then leak_backlinks_explain. 0
 * or -ENOMEM. */
int leak_word_reader_explain(struct leak_graph *g, struct leak_space *s);

#endif
