/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Matches by figures: equal bytes and allocations say that two like stacks are one call site, where
 * another compiler inlines other functions, calls others at a function's end (which leaves no
 * frame), or takes two calls for one. Main thread.
 */
#ifndef SRC_DIFF_FIGURES_H
#define SRC_DIFF_FIGURES_H

#include "src/diff/rows.h"

/* Pairs entries without a row, one of each side, whose figures are equal and whose stacks differ
 * only by frames that are missing, not by others in their place. The nearest first. */
void figures_join(struct rows *w);
/* Joins rows with similar stacks whose changes cancel each other out to the byte. All entries have
 * a row. */
void figures_merge(struct rows *w);

#endif
