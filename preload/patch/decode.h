/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lengths and shapes of x86-64 instructions: what is needed to move the beginning of a function
 * elsewhere, and to find branches into it. It does not judge whether the processor has an
 * instruction. Pure. Source: Intel SDM volume 2, chapter 2 and appendix A; AMD APM volume 3 for
 * XOP.
 */
#ifndef PRELOAD_PATCH_DECODE_H
#define PRELOAD_PATCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_MAX 15u /* bytes of an instruction, by definition */

enum decode_kind {
	DECODE_PLAIN, /* does not change the instruction pointer */
	DECODE_JUMP, /* jmp rel8 or rel32 */
	DECODE_JUMP_IF, /* jcc rel8 or rel32 */
	DECODE_LOOP, /* loop, loope, loopne, jrcxz: rel8 only */
	DECODE_CALL, /* call rel32 */
	DECODE_CALL_INDIRECT,
	DECODE_END, /* ret, jmp indirect, ud2, hlt: what follows is not reached from here */
	DECODE_TRAP, /* int3, int1: a debugger's */
	DECODE_BEGIN, /* xbegin: its relative address is taken on abort */
};

/* Offsets are from the instruction's first byte; 0: there is no such part. */
struct decode {
	uint8_t length;
	uint8_t kind; /* enum decode_kind */
	uint8_t opcode_at; /* the last opcode byte */
	uint8_t modrm_at;
	uint8_t rip_at; /* the 32-bit displacement from the next instruction */
	uint8_t relative_at; /* a branch's relative address: the last bytes */
	bool small_address; /* has the address size prefix */
};

/* Decodes the instruction at `code`, of which `bytes` are readable. False: not an instruction of
 * 64-bit mode, not known, or longer than `bytes`. */
bool decode_at(const uint8_t *code, size_t bytes, struct decode *out);

/* Where a relative branch at address `at` goes. Only for an instruction with relative_at. */
uint64_t decode_target(const uint8_t *code, const struct decode *d, uint64_t at);

/* Whether it is filler between functions: nop in any form, or int3. */
bool decode_is_filler(const uint8_t *code, const struct decode *d);

#endif
