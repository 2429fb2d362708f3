/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembered stacks. Unwinding is a function of a handful of words of the stack: those a stack was
 * computed from are kept with its site, and when all of them are there again, compared one by one,
 * innermost first, the site is the answer without unwinding. That is a proof, not a guess: by
 * induction each step starts from the same state, takes the same rule, and reads the same word.
 *
 * And it reads only what an unwinder would read: a word's address is known to be right once all the
 * words before it have compared equal, so a remembered stack of a coroutine or thread that is gone
 * leads nowhere. Code that was unloaded and replaced is found out by asking for the modules again.
 *
 * Stacks that begin alike share their beginnings: the memory is a tree, in which a word that is
 * another than expected leads on to the stacks that have that one there.
 */
#ifndef PRELOAD_GUARDS_H
#define PRELOAD_GUARDS_H

#include "preload/unwind.h"

/* One thread's memory of stacks: only that thread reads and writes it. */
struct guards;

/* NULL: no memory. */
struct guards *guards_new(void);
void guards_free(struct guards *g);
/* The site remembered for the stack at `frame`, or 0. */
uint32_t guards_find(struct guards *g, uintptr_t frame, uint32_t function);
/* Remembers the site of a stack just taken, if it can be. Site 0 is not remembered. */
void guards_keep(struct guards *g, const struct unwind *u, uint32_t function, uint32_t site);

#endif
