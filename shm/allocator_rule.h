/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules that say what a function does with blocks, one a line:
 *
 *	pool_alloc size=arg2 result=ret         allocates
 *	pool_free free=arg2                     frees
 *	pool_resize free=arg1 size=arg2 result=ret
 *	pool_get size=arg1*arg2 result=*arg3 when ret=0
 *
 * NAME is the function's symbol; arg1 to arg6 are its arguments (integers and pointers). size= is
 * an argument, the product of two, a number, or `string`: the result is a text, its length and the
 * NUL count. result= is `ret`, an argument, or what an argument points to; `when` restricts it. #
 * begins a comment. Pure: for the library, which has the rules of known allocators in this form,
 * and for viewers, which check a user's.
 */
#ifndef SHM_ALLOCATOR_RULE_H
#define SHM_ALLOCATOR_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALLOCATOR_RULE_NAME_MAX 255u

enum allocator_result {
	ALLOCATOR_NO_RESULT, /* it only frees */
	ALLOCATOR_RETURNED,
	ALLOCATOR_ARGUMENT, /* the block is the argument result_arg */
	ALLOCATOR_POINTED, /* the argument result_arg points to the block's address */
};

enum allocator_when { ALLOCATOR_ALWAYS, ALLOCATOR_EQUAL, ALLOCATOR_NOT_EQUAL, ALLOCATOR_AT_LEAST };

struct allocator_rule {
	const char *name; /* in the text given, not terminated */
	uint8_t name_bytes;
	/* Arguments are numbered from 1; 0: none. */
	uint8_t size_arg, size_factor; /* the size is their product */
	bool size_string; /* the result is a text */
	uint8_t free_arg; /* frees this block, or resizes it where there is a result */
	uint8_t result; /* enum allocator_result */
	uint8_t result_arg;
	uint8_t when; /* enum allocator_when: the returned value compared with */
	uint8_t when_arg; /* this argument, or if 0 */
	uint64_t when_number; /* this */
	uint64_t size_number; /* the size without size_arg and size_string */
};

/* Reads one line of `bytes` bytes. NULL: *out is the rule, or has name_bytes 0 if the line has
 * none. Else what is wrong; static. */
const char *allocator_rule_read(const char *line, size_t bytes, struct allocator_rule *out);

#endif
