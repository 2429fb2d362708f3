/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates with a call stack of its own for each number: one of ten functions per decimal digit,
 * the number's last digit outermost, and the innermost one adds its own digit to the size.
 */
#ifndef TESTS_TARGETS_DIGITS_H
#define TESTS_TARGETS_DIGITS_H

#include <stdlib.h>

typedef void *digit_function(unsigned number, int digits, size_t bytes);
static digit_function *const digit[10];

/* The last `digits` digits of `number` choose the functions. */
static void *digits_alloc(unsigned number, int digits, size_t bytes)
{
	return digit[number % 10](number / 10, digits - 1, bytes);
}

/* Each is another function to the linker and to the unwinder; the asm keeps the frames. */
#define DIGIT_FUNCTION(n)                                                                          \
	static __attribute__((noinline)) void *digit_##n(                                          \
		unsigned number, int digits, size_t bytes)                                         \
	{                                                                                          \
		void *block = digits ? digits_alloc(number, digits, bytes) : malloc(bytes + n);    \
		__asm__ volatile("" ::: "memory");                                                 \
		return block;                                                                      \
	}
DIGIT_FUNCTION(0)
DIGIT_FUNCTION(1)
DIGIT_FUNCTION(2)
DIGIT_FUNCTION(3)
DIGIT_FUNCTION(4)
DIGIT_FUNCTION(5)
DIGIT_FUNCTION(6)
DIGIT_FUNCTION(7)
DIGIT_FUNCTION(8)
DIGIT_FUNCTION(9)

static digit_function *const digit[10] = { digit_0, digit_1, digit_2, digit_3, digit_4, digit_5,
	digit_6, digit_7, digit_8, digit_9 };

#endif
