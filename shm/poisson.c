/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mathematics of sampling mode (poisson.h), in fixed point: Q63 is a fraction in units of
 * 2^-63, Q40 a number in units of 2^-40. Runs in hooks, once for each recorded block's allocation
 * and once for its free, so it may cost some hundred cycles.
 */
#include "shm/poisson.h"

#include <stddef.h>

#include "shm/wide.h"

#define Q63_ONE		(1ull << 63)
#define Q63_EXP_MINUS_1 0x2f16ac6c59de6f8dull /* 1/e */
#define Q64_LN_2	0xb17217f7d1cf79abull
#define EXP_ZERO	44u /* e^-44 is below the last bit of Q63 */
#define LOG_BITS	40u
#define SERIES_TERMS	20u /* 1/20! is below the last bit of Q63 */

uint64_t poisson_mix(uint64_t counter)
{
	counter = (counter ^ counter >> 30) * 0xbf58476d1ce4e5b9ull;
	counter = (counter ^ counter >> 27) * 0x94d049bb133111ebull;
	return counter ^ counter >> 31;
}

static uint64_t q63_multiply(uint64_t a, uint64_t b)
{
	return wide_right(wide_multiply(a, b), 63).low;
}

/* e^-x of a fraction below one, by its series from the last term back:
 * 1 - x (1 - x/2 (1 - x/3 (...))). */
static uint64_t q63_exp_fraction(uint64_t x)
{
	uint64_t sum = Q63_ONE;

	for (uint64_t k = SERIES_TERMS; k >= 1; k--)
		sum = Q63_ONE - q63_multiply(x, sum) / k;
	return sum;
}

/* e^-(length / 2^log2) */
static uint64_t q63_exp(uint64_t length, uint32_t log2)
{
	uint64_t whole = length >> log2, value;

	if (whole >= EXP_ZERO)
		return 0;
	value = q63_exp_fraction(length << (64 - log2) >> 1);
	while (whole-- > 0)
		value = q63_multiply(value, Q63_EXP_MINUS_1);
	return value;
}

/* The binary logarithm of a number with the highest bit set, less 63: each squaring gives the next
 * bit. */
static uint64_t q40_log2_fraction(uint64_t m)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < LOG_BITS; i++) {
		struct wide square = wide_multiply(m, m);
		unsigned carry = (unsigned)(square.high >> 63);

		bits = bits << 1 | carry;
		m = wide_right(square, 63 + carry).low;
	}
	return bits;
}

uint64_t poisson_gap(uint64_t random, uint32_t log2)
{
	uint64_t u = random ? random : 1; /* u / 2^64 is uniform between 0 and 1 */
	unsigned zeros = (unsigned)__builtin_clzll(u);
	/* -log2(u / 2^64) */
	uint64_t bits = ((uint64_t)(zeros + 1) << LOG_BITS) - q40_log2_fraction(u << zeros);
	uint64_t nats = wide_multiply(bits, Q64_LN_2).high;

	return wide_right(wide_left((struct wide){ 0, nats }, log2), LOG_BITS).low;
}

/* Without its last `shift` bits, rounded. */
static uint64_t rounded(struct wide value, uint32_t shift)
{
	struct wide half = wide_left((struct wide){ 0, 1 }, shift - 1);

	return wide_right(wide_add(value, half), shift).low;
}

static bool is_rate_log2(uint32_t log2)
{
	return log2 >= POISSON_LOG2_LEAST && log2 <= POISSON_LOG2_MOST;
}

/*
 * With q = 1/p and w = s/p the variances are q (q - 1) and w (w - s): no further use of p, and no
 * difference of nearly equal numbers but where the result is nearly nothing.
 */
struct poisson_weight poisson_weight(uint64_t addr, uint64_t size, uint32_t log2)
{
	uint64_t p, q, part, dither = poisson_mix(addr) >> 32;
	struct poisson_weight w;

	p = is_rate_log2(log2) ? Q63_ONE - q63_exp(size + 1, log2) : Q63_ONE;
	q = wide_divide(wide_left((struct wide){ 0, Q63_ONE }, 32), p); /* in units of 2^-32 */
	part = q & UINT32_MAX;
	w.blocks = (q + dither) >> 32;
	w.bytes = wide_divide(
		wide_add(wide_left((struct wide){ 0, size }, 63), (struct wide){ 0, p / 2 }), p);
	w.blocks_variance = rounded(wide_add(wide_multiply(q, q - (1ull << 32)),
					    (struct wide){ 0, part * ((1ull << 32) - part) }),
		64 + POISSON_BLOCKS_LOG2);
	w.bytes_variance = rounded(wide_multiply(w.bytes, w.bytes - size), POISSON_BYTES_LOG2);
	return w;
}
