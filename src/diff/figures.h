/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Matches by figures: equal bytes and allocations show that two similar stacks are one call site,
 * although another compiler inlines other functions, makes other tail calls (which leave no
 * frame), or merges two calls. Main thread.
 */
#ifndef SRC_DIFF_FIGURES_H
#define SRC_DIFF_FIGURES_H

#include "src/diff/rows.h"

/* Pairs entries without a row, one of each side, whose figures are equal and whose stacks differ
 * only by frames that are missing, not by others in their place. The nearest first. */
void figures_join(struct rows *w);
/* Joins rows with similar stacks whose changes cancel each other out to the byte. All entries have
 * a row. Of thousands of entries, only rows of the largest changes are compared. */
void figures_merge(struct rows *w);

#endif
