/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mathematics of sampling mode. Samples are a Poisson process along the bytes that a thread
 * allocates, on average one in `rate` bytes. A block of s bytes takes up s + 1 of them (so that
 * empty blocks are seen, too) and is recorded when at least one sample falls into it, which has the
 * probability
 *
 *	p = 1 - exp(-(s + 1) / rate)
 *
 * independently of every other block. A recorded block therefore stands for 1/p blocks of its kind,
 * and s/p bytes (Horvitz and Thompson, "A generalization of sampling without replacement from a
 * finite universe", 1952): sums of these are unbiased estimates of what the program really did, for
 * any sizes. The sum over the recorded blocks of s^2 (1 - p) / p^2 for bytes, and of (1 - p) / p^2
 * for blocks, is itself an unbiased estimate of such a sum's variance; the latter get f (1 - f) on
 * top, where f is the part of 1/p that is rounded at random. Blocks much larger than the rate are
 * always recorded, with weight one and no variance.
 *
 * Everything is a pure function in integers: code inside malloc must not touch the program's
 * floating-point state (rounding, traps, sticky flags), and a block's weight must be reproduced, to
 * the byte, when the block is freed. Any thread; no calls.
 */
#ifndef SHM_POISSON_H
#define SHM_POISSON_H

#include <stdbool.h>
#include <stdint.h>

/* Rates are powers of two: so a block keeps its own in six bits. */
#define POISSON_LOG2_LEAST 10u /* 1 KiB: below that, recording everything is as cheap */
#define POISSON_LOG2_MOST  26u /* 64 MiB: variances of millions of samples still fit their word */

/* Variances are kept in units of 2^16 bytes^2, and of 2^-4 blocks^2. */
#define POISSON_BYTES_LOG2  16
#define POISSON_BLOCKS_LOG2 (-4)

/* The weight of a recorded block. */
struct poisson_weight {
	uint64_t blocks, bytes;
	uint64_t blocks_variance, bytes_variance; /* in the units above */
};

/*
 * The weight of the block of `size` bytes (below 2^48) at `addr`, recorded at the rate 2^log2.
 * `blocks` is 1/p rounded up or down by a hash of the address, so that it is right on average;
 * `bytes` is s/p rounded to the nearest. log2 0, or anything else that is no rate: recorded in
 * exact mode, stands for itself.
 */
struct poisson_weight poisson_weight(uint64_t addr, uint64_t size, uint32_t log2);

/* The number of bytes until the next sample: exponentially distributed, with mean 2^log2, from 64
 * random bits. A block of s bytes with s >= gap is the next to be recorded; any other takes s + 1
 * from the gap. Redrawing a gap at any time adds no bias: the process has no memory. */
uint64_t poisson_gap(uint64_t random, uint32_t log2);

/* 64 bits that look random, from a counter (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014: SplitMix64). Add POISSON_STEP to the counter for each. */
uint64_t poisson_mix(uint64_t counter);
#define POISSON_STEP 0x9e3779b97f4a7c15ull

/* Whether a word of the segment is a rate. 0, exact mode, is not one. */
static inline bool poisson_is_rate(uint64_t bytes)
{
	return (bytes & (bytes - 1)) == 0 && bytes >> POISSON_LOG2_LEAST != 0 &&
	       bytes >> POISSON_LOG2_MOST <= 1;
}

#endif
