/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A model checker for the lock-free code of shm/. The real sources are compiled with the thread
 * sanitizer's instrumentation, and its calls lead here instead of into its run-time library.
 * Threads are coroutines; the checker runs a scenario again and again, each time with other
 * decisions, until all are tried (stateless search, as in Godefroid's VeriSoft). What it decides:
 *
 *   - at each access to a word that two threads race for: which thread goes on;
 *   - at each atomic load: which of the values that the C11 memory model lets the thread see. Every
 *     word has the history of its values; each thread has a view, the oldest value of each word
 * that it may still see; release and acquire pass views on (after Kang et al., "A promising
 * semantics for relaxed-memory concurrency", POPL 2017; the order of a word's values is that of the
 * stores);
 *   - at each relaxed load, too: which of the values that other threads store to the word only
 * afterwards, as ARM may do it (future.c).
 *
 * Plain accesses must be ordered by release and acquire: two that are not are a violation.
 *
 * The search is bounded by deviations: a deviation is a switch away from a thread that could go on
 * (Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007), or a load of an old value or of
 * one still to be stored. Bugs need few; the report says whether the bound cut anything off.
 */
#ifndef TESTS_MODEL_MODEL_H
#define TESTS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/segment.h"

#define MODEL_THREADS_MAX 4u

struct model_scenario {
	const char *name;
	void (*setup)(void); /* once: makes the state that every execution starts from */
	void (*begin)(void); /* before each execution, for variables that are not in the checked
				memory; NULL: none */
	void (*thread[MODEL_THREADS_MAX])(void); /* NULL: no further ones */
	void (*invariant)(void); /* after each store; NULL: none */
	void (*end)(void); /* when all threads are done */
	unsigned deviations; /* bound of the search */
	unsigned observers; /* bit i: thread i only looks, as a viewer; see model_owned */
};

/* Explores; prints one line as tests/check.h does. Returns 0 when no execution broke a property. */
int model_run(const struct model_scenario *scenarios, unsigned count);

/* The property that must hold here; ends the execution when it does not. */
void model_require(bool holds, const char *property);

/* A segment in the checked memory with tables of one unit each, all committed, no piece of the live
 * table but an overflow of 2^live_log2 buckets in level 0, and one line at level 0 of the tree's
 * index. For setups. */
void model_segment(struct segment *s, uint32_t live_log2, uint32_t levels);
/* Gives it room for pieces, up to three of 64 KB of address space, with nothing in them. */
void model_pieces(struct segment *s, uint32_t count);
/* Zeroed words for the scenario's own use in the checked memory. For setups. */
void *model_shared(size_t bytes);
/* Words that only one thread at a time may touch, though by relaxed accesses: treated as plain
 * between threads that are no observers. For setups. */
void model_owned(const void *at, size_t bytes);
/* Words that only one thread at a time may store to, though others may look. For setups. */
void model_one_writer(const void *at, size_t bytes);

#endif
