/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Matches by figures: equal bytes and allocations say that two like stacks are one call site, where
 * another compiler inlines other functions, calls others at a function's end (which leaves no
 * frame), or takes two calls for one. Main thread.
 */
#ifndef SRC_DIFF_FIGURES_H
#define SRC_DIFF_FIGURES_H

#include "src/diff/rows.h"

/* Of entries without a row: pairs those of both sides whose figures are equal, and whose stacks
 * lack frames of each other, but have no other ones in their place. The nearest first. */
void figures_join(struct rows *w);
/* When all entries have a row: makes one of such rows whose changes cancel each other out to the
 * byte, and whose stacks are alike. */
void figures_merge(struct rows *w);

#endif
