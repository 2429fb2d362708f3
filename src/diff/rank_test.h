/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether two small samples differ: the rank-sum test of Wilcoxon, Mann and Whitney, with its exact
 * distribution. It assumes nothing about how the figures scatter. Pure; any thread.
 */
#ifndef SRC_DIFF_RANK_TEST_H
#define SRC_DIFF_RANK_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_TEST_MAX 64 /* figures on each side */

/*
 * What tests of equally many figures have in common, if all of these differ: counting it takes
 * milliseconds. Empty is all zeros; one thread at a time.
 */
struct rank_test_known {
	size_t n, k; /* the distribution of the rank sum of k of n figures */
	double *ways; /* owned */
};
/*
 * The probability, 0 to 1, that two samples differ as much as these or more, one way or the other,
 * if they come from the same source: the part of all ways to divide the figures whose rank sum is
 * as far from the middle. Equal figures have their middle rank. 1 for an empty side. `known` may be
 * NULL.
 */
double rank_test_p(
	const uint64_t *a, size_t na, const uint64_t *b, size_t nb, struct rank_test_known *known);
void rank_test_known_free(struct rank_test_known *known);
/* The smallest value that rank_test_p can give for so many figures: 0.1 for 3 and 3. */
double rank_test_p_least(size_t na, size_t nb);
/*
 * The interval that holds b - a with the certainty 1 - alpha (Hodges and Lehmann). False: there are
 * too few figures for that certainty.
 */
bool rank_test_interval(const uint64_t *a, size_t na, const uint64_t *b, size_t nb, double alpha,
	double *low, double *high);
/* The median; of an even number, the mean of the middle two, rounded down. Sorts the figures. */
uint64_t rank_test_median(uint64_t *figures, size_t n);
/*
 * The limit for p that keeps false discoveries to the part `rate` of all discoveries (Benjamini and
 * Hochberg): every test with p up to it is one. Sorts `p`; 0 if there are none. Tests that cannot
 * fail must not be among them.
 */
double rank_test_limit(double *p, size_t n, double rate);

#endif
