/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves the first instructions of a function to another place, so that a jump can take theirs.
 * Whatever an instruction computes from its own address is computed as if it were still where it
 * was: operands relative to rip, branches, and the return address of a call. Pure.
 */
#ifndef PRELOAD_PATCH_RELOCATE_H
#define PRELOAD_PATCH_RELOCATE_H

#include "preload/patch/decode.h"

#define RELOCATE_JUMP	  5u /* bytes that the jump takes: jmp rel32 */
#define RELOCATE_ALIGN	  16u /* of functions, by all compilers that optimise for speed */
#define RELOCATE_MOST	  (RELOCATE_JUMP - 1 + DECODE_MAX) /* bytes displaced, at most */
#define RELOCATE_PAD_MOST 256u /* bytes that they may become, the jump back included */
#define RELOCATE_NOWHERE  255u
#define RELOCATE_SCAN	  (1u << 20) /* bytes of a function that are searched for branches */

/* Why a function's beginning stays where it is. Words: relocate_why_word. */
enum relocate_why {
	RELOCATE_DONE,
	RELOCATE_SHORT, /* the function ends before the jump would, and other code follows */
	RELOCATE_UNKNOWN, /* bytes that are no known instruction */
	RELOCATE_BRANCHED, /* a branch in the function goes into the displaced bytes */
	RELOCATE_CALLS, /* a call in them returns into them */
	RELOCATE_TRAP, /* a debugger's breakpoint */
	RELOCATE_FAR, /* an operand is out of reach from the new place */
	RELOCATE_ODD, /* an instruction that cannot be moved */
	RELOCATE_LONG, /* too large a function to be searched for branches */
};

/* "its first instructions cannot be moved", ...: why, for people. Static. */
const char *relocate_why_word(enum relocate_why why);

struct relocated {
	uint8_t displaced; /* bytes at the old place, RELOCATE_JUMP or more: whole instructions */
	uint8_t own; /* those before filler: bytes of the function itself */
	uint16_t bytes; /* written to the new place */
	/* By the byte of the old place where an instruction begins: where it is in the new one.
	 * RELOCATE_NOWHERE: none begins there. */
	uint8_t moved[RELOCATE_MOST];
};

/*
 * Writes to `out` (RELOCATE_PAD_MOST bytes, which will be at address `to`) what the first
 * instructions at `code` (`bytes` readable, at address `from`) do, and a jump to the instruction
 * after them. A short function may be followed by filler up to a multiple of RELOCATE_ALIGN.
 */
enum relocate_why relocate_make(const uint8_t *code, size_t bytes, uint64_t from, uint8_t *out,
	uint64_t to, struct relocated *r);

/* Whether a branch in the function of `bytes` bytes at `code` goes into its first `displaced`
 * bytes, beyond the very first. RELOCATE_DONE: none does. Branches through tables are not seen. */
enum relocate_why relocate_search(const uint8_t *code, size_t bytes, unsigned displaced);

/* Writes a jump of RELOCATE_JUMP bytes. False: too far. */
bool relocate_jump(uint8_t *out, uint64_t from, uint64_t to);

#endif
