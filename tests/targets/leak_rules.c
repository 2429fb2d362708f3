/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks to which the only pointer goes inside, each of a shape that one or more of memcheck's
 * heuristics look for, or that is just none of them. The functions are named for the shape; what
 * class a block has depends on the rules that count.
 */
#include <stdint.h>

#include "tests/targets/leaks.h"

MAKER(text)
MAKER(text_longer_than_its_room)
MAKER(text_without_end)
MAKER(length)
MAKER(length_of_four)
MAKER(length_too_long)
MAKER(length_further_on)
MAKER(array)
MAKER(array_of_twelve_bytes)
MAKER(array_of_none)
MAKER(array_uneven)
MAKER(second_base)
MAKER(second_base_of_few_functions)
MAKER(second_base_of_fewer)
MAKER(second_base_alone)

static void *volatile held[15];

static void method(void)
{
}

/* Tables of functions as compilers lay them out, and two that begin with pure gaps: the second
 * function of one is the last word that counts, that of the other is one behind. */
static void (*const table_one[3])(void) = { method, method, method };
static void (*const table_two[3])(void) = { method, method, method };
static void (*const table_few[24])(void) = { [19] = method, [20] = method };
static void (*const table_fewer[24])(void) = { [19] = method, [21] = method };

static void texts(void)
{
	uint64_t *p = text(24 + 31 + 1);

	p[0] = 10;
	p[1] = 31;
	held[0] = p + 3;
	p = text_longer_than_its_room(24 + 31 + 1);
	p[0] = 32;
	p[1] = 31;
	held[1] = p + 3;
	p = text_without_end(24 + 31);
	p[0] = 10;
	p[1] = 31;
	held[2] = p + 3;
}

static void lengths(void)
{
	uint64_t *p = length(808);

	p[0] = 800;
	held[3] = p + 1;
	p = length_of_four(12);
	p[0] = 4;
	held[4] = p + 1;
	p = length_too_long(808);
	p[0] = 801;
	held[5] = p + 1;
	p = length_further_on(808);
	p[0] = 800;
	held[6] = p + 2;
}

static void arrays(void)
{
	uint64_t *p = array(8 + 7 * 12);

	p[0] = 7;
	held[7] = p + 1;
	p = array_of_twelve_bytes(12);
	p[0] = 2;
	held[8] = p + 1;
	p = array_of_none(8 + 7 * 12);
	held[9] = p + 1;
	p = array_uneven(8 + 7 * 12);
	p[0] = 8;
	held[10] = p + 1;
}

static void bases(void)
{
	uint64_t *p = second_base(64);

	p[0] = (uint64_t)(uintptr_t)table_one;
	p[2] = (uint64_t)(uintptr_t)table_two;
	held[11] = p + 2;
	p = second_base_of_few_functions(64);
	p[0] = (uint64_t)(uintptr_t)table_one;
	p[5] = (uint64_t)(uintptr_t)table_few;
	held[12] = p + 5;
	p = second_base_of_fewer(64);
	p[0] = (uint64_t)(uintptr_t)table_one;
	p[7] = (uint64_t)(uintptr_t)table_fewer;
	held[13] = p + 7;
	p = second_base_alone(64);
	p[2] = (uint64_t)(uintptr_t)table_two;
	held[14] = p + 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	texts();
	lengths();
	arrays();
	bases();
	account_write();
	clear_stack();
	if (argc > 1)
		wait_for_end();
	return 0;
}
