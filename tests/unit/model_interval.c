/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The promise of the error bars: of 1000 simulated runs of a program at least 94 % end with the
 * truth inside the bar that is printed, whatever the program is like.
 */
#include "src/model/interval.h"

#include <math.h>
#include <stddef.h>
#include "shm/poisson.h"
#include "tests/check.h"

#define RUNS  1000
#define LEAST 940

TEST(formula)
{
	CHECK_INT(interval_half(1e12, 0), 0);
	/* Nothing sampled: up to z^2 grains may have been missed. */
	CHECK_INT(interval_half(0, 1000), 3841);
	CHECK_INT(interval_half(-5, 1000), 3841);
	/* Many samples: 1.96 deviations, and a little. */
	CHECK(fabs((double)interval_half(1e6 * 1e6, 1000) / 1.96e6 - 1) < 0.002);
	CHECK_INT(interval_half(1e80, 1), 9000000000000000000ull);
}

/* A program: so many blocks, with sizes from one rule. */
struct program {
	const char *name;
	unsigned blocks;
	uint64_t (*size)(unsigned i);
	bool mixed; /* small blocks may hide behind large ones */
	bool is_site; /* its bar is that of a site, which was met at least once */
};

static uint64_t size_small(unsigned i)
{
	return 16 + i % 7 * 16;
}

static uint64_t size_wide(unsigned i)
{
	return 8ull << poisson_mix(i) % 16;
}

static uint64_t size_near_rate(unsigned i)
{
	return 40000 + i % 100 * 500;
}

static uint64_t size_large(unsigned i)
{
	return (3 + i % 5) << 16;
}

static uint64_t size_one_large(unsigned i)
{
	return i == 0 ? 50 << 20 : 64;
}

static const struct program programs[] = {
	{ "nothing", 1, size_small, false, false },
	{ "half a grain", 500, size_small, false, false },
	{ "two grains and a half", 2560, size_small, false, false },
	{ "five grains", 5000, size_small, false, false },
	{ "many grains", 60000, size_small, false, false },
	{ "all sizes, few", 40, size_wide, true, false },
	{ "all sizes, many", 3000, size_wide, true, false },
	{ "as large as the rate", 30, size_near_rate, false, false },
	{ "a large one among small ones", 3000, size_one_large, true, false },
	{ "a site of small ones", 5000, size_small, false, true },
	{ "a site of blocks as large as the rate", 30, size_near_rate, false, true },
	{ "a site of large ones", 50, size_large, false, true },
	{ "a site of one large", 1, size_one_large, false, true },
};

struct outcome {
	bool bytes, blocks; /* inside the bar */
};

/* As the library counts and the model draws. */
static struct outcome run(const struct program *p, uint64_t random)
{
	const uint32_t log2 = 16;
	double bytes = 0, blocks = 0, bytes_v = 0, blocks_v = 0, truth = 0, grain, blocks_grain;
	uint64_t left = poisson_gap(poisson_mix(random += POISSON_STEP), log2);

	for (unsigned i = 0; i < p->blocks; i++) {
		uint64_t size = p->size(i);
		struct poisson_weight w;

		truth += (double)size;
		if (size < left) {
			left -= size + 1;
			continue;
		}
		left = poisson_gap(poisson_mix(random += POISSON_STEP), log2);
		w = poisson_weight(random + i * 64, size, log2);
		bytes += (double)w.bytes;
		blocks += (double)w.blocks;
		bytes_v += ldexp((double)w.bytes_variance, POISSON_BYTES_LOG2);
		blocks_v += ldexp((double)w.blocks_variance, POISSON_BLOCKS_LOG2);
	}
	grain = ldexp(1, (int)log2);
	if (p->is_site && blocks_v > 0) {
		blocks_grain = interval_grain(bytes / blocks, grain);
		grain = bytes / blocks * blocks_grain;
	} else if (p->is_site) {
		blocks_grain = grain = 0;
	} else {
		blocks_grain = p->mixed	   ? grain / INTERVAL_SMALL
			       : bytes > 0 ? grain * blocks / bytes
					   : 0;
	}
	return (struct outcome){
		.bytes = fabs(bytes - truth) <= (double)interval_half(bytes_v, grain),
		.blocks = bytes == 0 ||
			  fabs(blocks - p->blocks) <= (double)interval_half(blocks_v, blocks_grain),
	};
}

TEST(one_sample_stands_for)
{
	CHECK(fabs(interval_grain(99, 65536) / 655.36 - 1) < 0.01);
	CHECK(fabs(interval_grain(65536, 65536) - 0.96) < 0.01);
	CHECK(interval_grain(20 * 65536, 65536) < 0.0001);
	CHECK(interval_grain(1e15, 1024) >= 0);
}

TEST(truth_is_inside_the_bar)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		unsigned bytes = 0, blocks = 0;

		for (uint64_t seed = 0; seed < RUNS; seed++) {
			struct outcome o = run(&programs[i], seed * 7919 + i);

			bytes += o.bytes;
			blocks += o.blocks;
		}
		fprintf(stderr, "  %-30s bytes %u, blocks %u of %u\n", programs[i].name, bytes,
			blocks, RUNS);
		CHECK(bytes >= LEAST);
		CHECK(blocks >= LEAST);
	}
}

int main(void)
{
	RUN(formula);
	RUN(one_sample_stands_for);
	RUN(truth_is_inside_the_bar);
	return check_end();
}
