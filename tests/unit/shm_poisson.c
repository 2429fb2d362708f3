/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mathematics of sampling mode: the fixed-point functions against libm, and what they are for:
 * sums of weights that are right on average, with variances that say how far off they are.
 */
#include "shm/poisson.h"

#include <math.h>
#include <stdlib.h>
#include "tests/check.h"

static double probability(uint64_t size, uint32_t log2)
{
	return -expm1(-((double)size + 1) / ldexp(1, (int)log2));
}

/* Relative, but for what is less than one unit. */
static bool is_near(double got, double want, double unit)
{
	return fabs(got - want) <= 1e-6 * fabs(want) + unit;
}

TEST(gaps_are_those_of_libm)
{
	unsigned wrong = 0;

	for (uint64_t i = 0; i < 1000000; i++) {
		uint64_t random = poisson_mix(i * POISSON_STEP) >> (i % 64);
		uint32_t log2 = POISSON_LOG2_LEAST +
				(uint32_t)(i % (POISSON_LOG2_MOST - POISSON_LOG2_LEAST + 1));
		double u = ldexp(random ? (double)random : 1, -64);

		wrong += !is_near(
			(double)poisson_gap(random, log2), -log(u) * ldexp(1, (int)log2), 1.0001);
	}
	CHECK_INT(wrong, 0);
	/* The ends of the range. */
	CHECK_INT(poisson_gap(UINT64_MAX, 26), 0);
	CHECK_INT(poisson_gap(1ull << 63, 20), (uint64_t)(M_LN2 * (1 << 20)));
	CHECK_INT(poisson_gap(0, 10), poisson_gap(1, 10));
	CHECK(is_near((double)poisson_gap(1, 26), 64 * M_LN2 * (1 << 26), 1));
}

static void weight_check(uint64_t size, uint32_t log2, unsigned *wrong)
{
	double p = probability(size, log2), s = (double)size;
	double part = 1 / p - floor(1 / p), passed = exp(-(s + 1) / ldexp(1, (int)log2));
	struct poisson_weight w = poisson_weight(0x1234567890 + size, size, log2);

	*wrong += !is_near((double)w.bytes, s / p, 0.51);
	*wrong += fabs((double)w.blocks - 1 / p) > 1 + 1e-6 / p;
	*wrong += !is_near(ldexp((double)w.bytes_variance, POISSON_BYTES_LOG2),
		s * s * passed / (p * p), ldexp(1, POISSON_BYTES_LOG2) + s / p);
	*wrong += !is_near(ldexp((double)w.blocks_variance, POISSON_BLOCKS_LOG2),
		passed / (p * p) + part * (1 - part), 0.07);
}

TEST(weights_are_those_of_libm)
{
	unsigned wrong = 0;

	for (uint32_t log2 = POISSON_LOG2_LEAST; log2 <= POISSON_LOG2_MOST; log2++) {
		for (uint64_t i = 0; i < 20000; i++)
			weight_check(poisson_mix(i) >> (16 + i % 48), log2, &wrong);
		for (uint64_t size = 0; size < 300; size++)
			weight_check(size, log2, &wrong);
	}
	CHECK_INT(wrong, 0);
}

TEST(exact_blocks_stand_for_themselves)
{
	static const uint64_t sizes[] = { 0, 1, 4096, 1ull << 40, (1ull << 48) - 1 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct poisson_weight exact = poisson_weight(0x7f00 + i, sizes[i], 0);

		CHECK_INT(exact.blocks, 1);
		CHECK_INT(exact.bytes, sizes[i]);
		CHECK_INT(exact.blocks_variance, 0);
		CHECK_INT(exact.bytes_variance, 0);
		/* A rate of a damaged segment. */
		CHECK_INT(poisson_weight(0x7f00 + i, sizes[i], 63).bytes, sizes[i]);
		CHECK_INT(poisson_weight(0x7f00 + i, sizes[i], 9).blocks, 1);
	}
	/* So does, in sampling mode, what is never passed over. */
	CHECK_INT(poisson_weight(0x7f00, 1ull << 40, 20).blocks, 1);
	CHECK_INT(poisson_weight(0x7f00, 1ull << 40, 20).bytes, 1ull << 40);
	CHECK_INT(poisson_weight(0x7f00, 1ull << 40, 20).bytes_variance, 0);
}

/* 1/p is rarely whole: rounded by the address, it is right on average. */
TEST(counts_are_right_on_average)
{
	static const uint64_t sizes[] = { 0, 16, 1000, 70000, 200000, 1000000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double sum = 0, want = 1 / probability(sizes[i], 16), n = 200000;

		for (uint64_t addr = 0; addr < n; addr++)
			sum += (double)poisson_weight(addr * 16, sizes[i], 16).blocks;
		/* Rounded at random the sum would be off by 0.5 per block at most: five sigma. */
		CHECK(fabs(sum - n * want) < 5 * 0.5 * sqrt(n) + 1e-6 * n * want);
	}
}

/* A thread of a program in sampling mode. */
struct walk {
	uint64_t left, random;
	uint32_t log2;
};

static void walk_draw(struct walk *w)
{
	w->left = poisson_gap(poisson_mix(w->random += POISSON_STEP), w->log2);
}

static bool walk_takes(struct walk *w, uint64_t size)
{
	if (size < w->left) {
		w->left -= size + 1;
		return false;
	}
	walk_draw(w);
	return true;
}

/* The countdown takes a block with just the probability that its weight goes by. */
TEST(blocks_are_taken_with_their_probability)
{
	static const uint64_t sizes[] = { 0, 1, 15, 100, 1024, 5000, 20000 };
	const double n = 400000;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct walk w = { .random = i, .log2 = 12 };
		double taken = 0, p = probability(sizes[i], 12);

		walk_draw(&w);
		for (unsigned k = 0; k < n; k++)
			taken += walk_takes(&w, sizes[i]);
		CHECK(fabs(taken - n * p) < 5 * sqrt(n * p * (1 - p)) + 1e-9);
	}
}

#define RUNS   1000
#define BLOCKS 6000
#define SPARED 7 /* one block in so many is never freed */

struct sums {
	double bytes, blocks; /* what the program did, or what was estimated */
};

/* Sizes from 8 bytes to 256 KiB, small ones far more often, as programs have them. */
static uint64_t random_size(uint64_t *random)
{
	uint64_t r = poisson_mix(*random += POISSON_STEP);

	return 8 + (r >> 8) % (8ull << (r % 256 < 250 ? r % 8 : r % 16));
}

static void add(struct sums *s, const struct poisson_weight *w, double sign)
{
	s->bytes += sign * (double)w->bytes;
	s->blocks += sign * (double)w->blocks;
}

/* One run of a program: what is alive at its end, estimated and true, and the variances. */
static void simulate(
	uint64_t seed, struct sums *estimate, struct sums *truth, struct sums *variance)
{
	struct walk w = { .random = seed, .log2 = 16 };
	uint64_t program = 4711; /* the same blocks in each run */

	walk_draw(&w);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t size = random_size(&program), addr = 0x550000000000 + i * 4096;
		bool taken = walk_takes(&w, size), freed = i % SPARED != 0;
		struct poisson_weight weight = poisson_weight(addr, size, w.log2);

		truth->bytes += freed ? 0 : (double)size;
		truth->blocks += freed ? 0 : 1;
		if (!taken)
			continue;
		add(estimate, &weight, 1);
		variance->bytes += ldexp((double)weight.bytes_variance, POISSON_BYTES_LOG2);
		variance->blocks += ldexp((double)weight.blocks_variance, POISSON_BLOCKS_LOG2);
		if (!freed)
			continue;
		weight = poisson_weight(addr, size, w.log2);
		add(estimate, &weight, -1);
		variance->bytes -= ldexp((double)weight.bytes_variance, POISSON_BYTES_LOG2);
		variance->blocks -= ldexp((double)weight.blocks_variance, POISSON_BLOCKS_LOG2);
	}
}

/* Over many runs: no bias, and the variance that is claimed is the one that is there. */
TEST(sums_are_unbiased_and_know_their_variance)
{
	double bytes = 0, bytes2 = 0, blocks = 0, blocks2 = 0;
	struct sums claimed = { 0 };

	for (uint64_t run = 0; run < RUNS; run++) {
		struct sums estimate = { 0 }, truth = { 0 };
		double db, dn;

		simulate(run * 1000003, &estimate, &truth, &claimed);
		db = estimate.bytes - truth.bytes;
		dn = estimate.blocks - truth.blocks;
		bytes += db;
		bytes2 += db * db;
		blocks += dn;
		blocks2 += dn * dn;
	}
	/* The mean error within four of its standard deviations. */
	CHECK(fabs(bytes / RUNS) < 4 * sqrt(bytes2 / RUNS / RUNS));
	CHECK(fabs(blocks / RUNS) < 4 * sqrt(blocks2 / RUNS / RUNS));
	CHECK(fabs(claimed.bytes / bytes2 - 1) < 0.2);
	CHECK(fabs(claimed.blocks / blocks2 - 1) < 0.2);
}

TEST(rates_are_powers_of_two)
{
	CHECK(!poisson_is_rate(0));
	CHECK(!poisson_is_rate(1));
	CHECK(!poisson_is_rate(512));
	CHECK(poisson_is_rate(1024));
	CHECK(!poisson_is_rate(1025));
	CHECK(poisson_is_rate(1ull << 26));
	CHECK(!poisson_is_rate(1ull << 27));
	CHECK(!poisson_is_rate(1ull << 63));
}

int main(void)
{
	RUN(gaps_are_those_of_libm);
	RUN(weights_are_those_of_libm);
	RUN(exact_blocks_stand_for_themselves);
	RUN(counts_are_right_on_average);
	RUN(blocks_are_taken_with_their_probability);
	RUN(sums_are_unbiased_and_know_their_variance);
	RUN(rates_are_powers_of_two);
	return check_end();
}
