/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of 128 bits, also where the compiler has none. Pure functions: no calls, so that hooks
 * may use them.
 */
#ifndef SHM_WIDE_H
#define SHM_WIDE_H

#include <stdbool.h>
#include <stdint.h>

struct wide {
	uint64_t high, low;
};

#ifdef __SIZEOF_INT128__

static inline unsigned __int128 wide_whole(struct wide w)
{
	return (unsigned __int128)w.high << 64 | w.low;
}

static inline struct wide wide_parts(unsigned __int128 v)
{
	return (struct wide){ (uint64_t)(v >> 64), (uint64_t)v };
}

static inline struct wide wide_multiply(uint64_t a, uint64_t b)
{
	return wide_parts((unsigned __int128)a * b);
}

static inline struct wide wide_add(struct wide a, struct wide b)
{
	return wide_parts(wide_whole(a) + wide_whole(b));
}

/* By less than 128 bits. */
static inline struct wide wide_left(struct wide a, unsigned bits)
{
	return wide_parts(wide_whole(a) << bits);
}

static inline struct wide wide_right(struct wide a, unsigned bits)
{
	return wide_parts(wide_whole(a) >> bits);
}

/* The lower half of the quotient; `by` is not 0. */
static inline uint64_t wide_divide(struct wide a, uint64_t by)
{
	return (uint64_t)(wide_whole(a) / by);
}

#else

static inline struct wide wide_multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32), rest = a0 * b1 + (uint32_t)middle;

	return (struct wide){ a1 * b1 + (middle >> 32) + (rest >> 32), a * b };
}

static inline struct wide wide_add(struct wide a, struct wide b)
{
	uint64_t low = a.low + b.low;

	return (struct wide){ a.high + b.high + (low < a.low), low };
}

static inline struct wide wide_left(struct wide a, unsigned bits)
{
	if (bits == 0)
		return a;
	if (bits >= 64)
		return (struct wide){ a.low << (bits - 64), 0 };
	return (struct wide){ a.high << bits | a.low >> (64 - bits), a.low << bits };
}

static inline struct wide wide_right(struct wide a, unsigned bits)
{
	if (bits == 0)
		return a;
	if (bits >= 64)
		return (struct wide){ 0, a.high >> (bits - 64) };
	return (struct wide){ a.high >> bits, a.low >> bits | a.high << (64 - bits) };
}

/* Bit by bit: what is over is below `by`, and its carry is lost in a shift. */
static inline uint64_t wide_divide(struct wide a, uint64_t by)
{
	uint64_t over = 0, quotient = 0;

	for (unsigned i = 0; i < 128; i++) {
		bool carry = over >> 63;

		over = over << 1 | a.high >> 63;
		a = wide_left(a, 1);
		quotient <<= 1;
		if (carry || over >= by) {
			over -= by;
			quotient |= 1;
		}
	}
	return quotient;
}

#endif

#endif
