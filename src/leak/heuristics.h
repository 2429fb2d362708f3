/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where inside a block programs keep their only pointer to it: memcheck's heuristics, as its manual
 * tells them, and strings of redis. Pure functions; any thread.
 */
#ifndef SRC_LEAK_HEURISTICS_H
#define SRC_LEAK_HEURISTICS_H

#include "src/leak/graph.h"

/* What one question needs: a block, a pointer inside it, and words of memory. */
struct leak_question {
	const struct leak_block *block;
	uint64_t pointer;
	struct leak_word first, second; /* of the block */
	struct leak_word at; /* where the pointer points */
};

/* Which words are wanted: fills their addresses. Returns false if no heuristic can apply. */
bool leak_heuristics_want(struct leak_question *q);
enum leak_heuristic leak_heuristics_judge(
	const struct leak_question *q, const struct leak_memory *m);

#endif
