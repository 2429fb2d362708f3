/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which call sites of two builds are the same: entries (keys.h) come together in rows, by the first
 * of these ways that applies.
 *
 *   1. the same stack of function names, inlined ones included, and the same allocation function;
 *   2. the same without the frames of allocators and standard libraries, best with the same call of
 *      the library;
 *   3. equal bytes and allocations, and each stack lacks frames of the other, but has no others in
 *      their place; more than half of the frames are common (figures.h);
 *   4. the longest common part of the stacks from the allocation outwards, of two frames at least;
 *   5. one stack is the other with frames left out, at most half of them: a call at a function's
 *      end leaves none (tail calls), nor does inlining without debug information. If it is a single
 *      frame, their allocated bytes must be about the same. Such an entry also joins a row made
 *      before, if their changes of allocated bytes about cancel each other out;
 *   6. the same function and file, if that is the only entry of its side there.
 *
 * What is left is a row of its own. At last rows with like stacks become one if their changes
 * cancel each other out to the byte: one build has a stack for two of the other's. Main thread.
 */
#ifndef SRC_DIFF_MATCH_H
#define SRC_DIFF_MATCH_H

#include "src/diff/rows.h"

/* False: no memory. */
bool match_make(struct match *m, const struct keys *k);
void match_free(struct match *m);

#endif
