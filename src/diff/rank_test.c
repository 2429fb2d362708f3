/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rank-sum test (rank_test.h). The distribution is counted: ways[k][s] is the number of sets of
 * k figures whose ranks sum up to s, built figure by figure. Ranks are doubled, so that middle
 * ranks are whole.
 */
#include "src/diff/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES_MAX (2 * RANK_TEST_MAX)
#define SUM_MAX(n)  ((n) * ((n) + 1)) /* the sum of n figures' doubled ranks */

static int figures_compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static int reals_compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

/* The doubled rank of `figure` among `n` sorted ones. */
static unsigned rank_of(const uint64_t *sorted, size_t n, uint64_t figure)
{
	size_t below = 0, through;

	while (below < n && sorted[below] < figure)
		below++;
	for (through = below; through < n && sorted[through] == figure; through++)
		;
	return (unsigned)(below + 1 + through);
}

/*
 * The number of ways to draw `k` of `n` ranks, in rising order, by their sum; the caller frees it.
 * NULL: no memory. After each rank, only those numbers of ranks are counted that the others can
 * still make k of, and only the sums that so many ranks can have.
 */
static double *ways_count(const unsigned *ranks, size_t n, size_t k)
{
	size_t row = SUM_MAX(n) + 1, sums[FIGURES_MAX + 1] = { 0 }; /* of the first ranks */
	double *ways = calloc((k + 1) * row, sizeof(*ways));

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t least = k + i + 1 > n ? k + i + 1 - n : 1;

		sums[i + 1] = sums[i] + ranks[i];
		for (size_t of = i + 1 < k ? i + 1 : k; of >= least; of--) {
			const double *from = ways + (of - 1) * row;
			double *to = ways + of * row + ranks[i];
			size_t most = sums[i] - sums[i + 1 - of];

			for (size_t sum = sums[of - 1]; sum <= most; sum++)
				to[sum] += from[sum];
		}
	}
	memmove(ways, ways + k * row, row * sizeof(*ways));
	return ways;
}

/* Whether they are those of figures that all differ: 2, 4, 6 ... */
static bool all_differ(const unsigned *ranks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ranks[i] != 2 * (i + 1))
			return false;
	return true;
}

/* The same; if the figures all differ, kept in `known` (may be NULL), which then owns it. */
static double *ways_take(const unsigned *ranks, size_t n, size_t k, struct rank_test_known *known)
{
	if (!known || !all_differ(ranks, n))
		return ways_count(ranks, n, k);
	if (known->ways && known->n == n && known->k == k)
		return known->ways;
	free(known->ways);
	*known = (struct rank_test_known){ .n = n, .k = k, .ways = ways_count(ranks, n, k) };
	return known->ways;
}

static void ways_leave(double *ways, const struct rank_test_known *known)
{
	if (!known || ways != known->ways)
		free(ways);
}

double rank_test_p(
	const uint64_t *a, size_t na, const uint64_t *b, size_t nb, struct rank_test_known *known)
{
	uint64_t all[FIGURES_MAX];
	unsigned ranks[FIGURES_MAX], sum = 0;
	size_t n = na + nb;
	double *ways, far = 0, whole = 0, middle, off;

	if (na == 0 || nb == 0 || na > RANK_TEST_MAX || nb > RANK_TEST_MAX)
		return 1;
	memcpy(all, a, na * sizeof(*a));
	memcpy(all + na, b, nb * sizeof(*b));
	qsort(all, n, sizeof(*all), figures_compare);
	for (size_t i = 0; i < na; i++)
		sum += rank_of(all, n, a[i]);
	for (size_t i = 0; i < n; i++)
		ranks[i] = rank_of(all, n, all[i]);
	ways = ways_take(ranks, n, na, known);
	if (!ways)
		return 1;
	middle = (double)na * (double)(n + 1);
	off = fabs(sum - middle);
	for (size_t s = 0; s <= SUM_MAX(n); s++) {
		whole += ways[s];
		far += fabs((double)s - middle) >= off ? ways[s] : 0;
	}
	ways_leave(ways, known);
	return far / whole;
}

void rank_test_known_free(struct rank_test_known *known)
{
	free(known->ways);
	*known = (struct rank_test_known){ 0 };
}

double rank_test_p_least(size_t na, size_t nb)
{
	double ways = 1;

	if (na == 0 || nb == 0)
		return 1;
	for (size_t i = 1; i <= na; i++)
		ways = ways * (double)(nb + i) / (double)i;
	return ways < 2 ? 1 : 2 / ways;
}

/* How many differences may be left out at each end: the largest k with P(U < k) <= alpha / 2. */
static size_t ends_left_out(size_t na, size_t nb, double alpha)
{
	unsigned ranks[FIGURES_MAX];
	double *ways, whole = 0, below = 0;
	size_t least = na * (na + 1), k = 0; /* of the doubled rank sums */

	for (size_t i = 0; i < na + nb; i++)
		ranks[i] = 2 * (unsigned)(i + 1);
	ways = ways_count(ranks, na + nb, na);
	if (!ways)
		return 0;
	for (size_t s = 0; s <= SUM_MAX(na + nb); s++)
		whole += ways[s];
	for (size_t s = least; s <= SUM_MAX(na + nb); s += 2, k++) {
		below += ways[s];
		if (below / whole > alpha / 2)
			break;
	}
	free(ways);
	return k;
}

bool rank_test_interval(const uint64_t *a, size_t na, const uint64_t *b, size_t nb, double alpha,
	double *low, double *high)
{
	size_t n = na * nb, k;
	double *differences;

	if (n == 0 || na > RANK_TEST_MAX || nb > RANK_TEST_MAX)
		return false;
	k = ends_left_out(na, nb, alpha);
	differences = k > 0 && 2 * k <= n ? malloc(n * sizeof(*differences)) : NULL;
	if (!differences)
		return false;
	for (size_t i = 0; i < n; i++)
		differences[i] = (double)b[i / na] - (double)a[i % na];
	qsort(differences, n, sizeof(*differences), reals_compare);
	*low = differences[k - 1];
	*high = differences[n - k];
	free(differences);
	return true;
}

uint64_t rank_test_median(uint64_t *figures, size_t n)
{
	uint64_t low, high;

	if (n == 0)
		return 0;
	qsort(figures, n, sizeof(*figures), figures_compare);
	low = figures[(n - 1) / 2];
	high = figures[n / 2];
	return low + (high - low) / 2;
}

double rank_test_limit(double *p, size_t n, double rate)
{
	double limit = 0;

	qsort(p, n, sizeof(*p), reals_compare);
	for (size_t i = 0; i < n; i++)
		if (p[i] <= rate * (double)(i + 1) / (double)n)
			limit = p[i];
	return limit;
}
