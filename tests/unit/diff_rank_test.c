/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rank-sum test (src/diff/rank_test.h), against published and enumerated values. */
#include "src/diff/rank_test.h"
#include "tests/check.h"

#define N(list) (sizeof(list) / sizeof((list)[0]))

static double off(double got, double want)
{
	return got > want ? got - want : want - got;
}

/* c and d: Hollander and Wolfe (1973), p. 69; the others by writing all divisions down. */
TEST(known_values)
{
	static const uint64_t a[] = { 1, 2, 3, 4, 5 }, b[] = { 6, 7, 8, 9, 10 };
	static const uint64_t c[] = { 80, 83, 189, 104, 145, 64, 191, 178, 173, 146 };
	static const uint64_t d[] = { 115, 88, 90, 74, 121 };
	static const uint64_t mixed[] = { 3, 5, 9 }, others[] = { 4, 8, 10 };

	CHECK(off(rank_test_p(a, 5, b, 5, NULL), 2.0 / 252) < 1e-9);
	CHECK(off(rank_test_p(b, 5, a, 5, NULL), 2.0 / 252) < 1e-9);
	CHECK(off(rank_test_p(c, 10, d, 5, NULL), 0.2544) < 5e-5);
	CHECK(off(rank_test_p(mixed, 3, others, 3, NULL), 0.7) < 1e-9);
	CHECK(off(rank_test_p(a, 3, b, 3, NULL), 0.1) < 1e-9);
}

TEST(equal_figures)
{
	static const uint64_t same[] = { 7, 7, 7 }, ties[] = { 1, 1, 2 }, more[] = { 2, 2, 3 };

	CHECK(off(rank_test_p(same, 3, same, 3, NULL), 1) < 1e-9);
	/* Ranks 1.5 1.5 4 against 4 4 6: 7, and the middle is 10.5; 6 of 20 sums are as far off. */
	CHECK(off(rank_test_p(ties, 3, more, 3, NULL), 6.0 / 20) < 1e-9);
	CHECK(off(rank_test_p(same, 0, same, 3, NULL), 1) < 1e-9);
}

TEST(least)
{
	CHECK(off(rank_test_p_least(3, 3), 0.1) < 1e-9);
	CHECK(off(rank_test_p_least(5, 5), 2.0 / 252) < 1e-9);
	CHECK(off(rank_test_p_least(1, 1), 1) < 1e-9);
}

TEST(large_samples_are_counted_too)
{
	uint64_t a[RANK_TEST_MAX], b[RANK_TEST_MAX];

	for (uint64_t i = 0; i < RANK_TEST_MAX; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 1;
	}
	CHECK(rank_test_p(a, RANK_TEST_MAX, b, RANK_TEST_MAX, NULL) > 0.7);
	for (int i = 0; i < RANK_TEST_MAX; i++)
		b[i] += 1000;
	CHECK(rank_test_p(a, RANK_TEST_MAX, b, RANK_TEST_MAX, NULL) < 1e-20);
}

/* So many that counting for each one anew takes minutes. */
TEST(many_tests)
{
	struct rank_test_known known = { 0 };
	uint64_t a[RANK_TEST_MAX], b[RANK_TEST_MAX];
	double p = 0;

	for (uint64_t i = 0; i < RANK_TEST_MAX; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 11;
	}
	for (unsigned i = 0; i < 10000; i++)
		p += rank_test_p(a, RANK_TEST_MAX, b, RANK_TEST_MAX, &known);
	CHECK(off(p, 10000 * rank_test_p(a, RANK_TEST_MAX, b, RANK_TEST_MAX, NULL)) < 1e-6);
	rank_test_known_free(&known);
}

/* What is known of other numbers of figures, or of equal ones, is not taken. */
TEST(known_of_others)
{
	static const uint64_t a[] = { 1, 2, 3, 4, 5 }, b[] = { 6, 7, 8, 9, 10 };
	static const uint64_t ties[] = { 1, 1, 2 }, more[] = { 2, 2, 3 };
	struct rank_test_known known = { 0 };

	for (int i = 0; i < 3; i++) {
		CHECK(off(rank_test_p(a, 5, b, 5, &known), 2.0 / 252) < 1e-9);
		CHECK(off(rank_test_p(a, 3, b, 3, &known), 0.1) < 1e-9);
		CHECK(off(rank_test_p(ties, 3, more, 3, &known), 6.0 / 20) < 1e-9);
		CHECK(off(rank_test_p(a, 4, b, 2, &known), 2.0 / 15) < 1e-9);
		CHECK(off(rank_test_p(a, 2, b, 4, &known), 2.0 / 15) < 1e-9);
	}
	rank_test_known_free(&known);
}

/* By sorting all differences. */
TEST(intervals)
{
	static const uint64_t a[] = { 10, 11, 12, 13, 14 }, b[] = { 20, 21, 22, 23, 24 };
	static const uint64_t c[] = { 110, 123, 136, 128, 119, 131 };
	static const uint64_t d[] = { 141, 119, 152, 149, 133, 160 };
	double low = 0, high = 0;

	CHECK(rank_test_interval(a, 5, b, 5, 0.05, &low, &high));
	CHECK_INT(low, 7);
	CHECK_INT(high, 13);
	CHECK(rank_test_interval(c, 6, d, 6, 0.05, &low, &high));
	CHECK_INT(low, 0);
	CHECK_INT(high, 33);
	CHECK(!rank_test_interval(a, 3, b, 3, 0.05, &low, &high));
	CHECK(!rank_test_interval(a, 1, b, 1, 0.05, &low, &high));
}

TEST(medians)
{
	uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 10, 2 };
	uint64_t large[] = { UINT64_MAX, UINT64_MAX - 2 };

	CHECK_INT(rank_test_median(odd, 3), 5);
	CHECK_INT(rank_test_median(even, 4), 3);
	CHECK(rank_test_median(large, 2) == UINT64_MAX - 1);
	CHECK_INT(rank_test_median(odd, 0), 0);
}

/* The example of Benjamini and Hochberg (1995), section 3.2: four of fifteen, at 0.05. */
TEST(false_discoveries)
{
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
		0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double none[] = { 0.5, 0.04, 0.3 };

	CHECK(off(rank_test_limit(p, N(p), 0.05), 0.0095) < 1e-9);
	CHECK(rank_test_limit(none, N(none), 0.05) <= 0);
}

int main(void)
{
	RUN(known_values);
	RUN(equal_figures);
	RUN(least);
	RUN(large_samples_are_counted_too);
	RUN(many_tests);
	RUN(known_of_others);
	RUN(intervals);
	RUN(medians);
	RUN(false_discoveries);
	return check_end();
}
