/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a hook is entered, by architecture. All code that takes a hook's frame address expects the
 * caller's frame pointer there, the return address behind it, and then the caller's stack. On
 * x86-64 a function's own frame has this layout (SysV ABI, 3.2.2).
 *
 * On aarch64 compilers put the two registers anywhere in a frame: gcc at its lower end, clang below
 * the other saved registers (AAPCS64, 6.4.6, leaves that open). So what a hook exports is a few
 * instructions that push them and nothing else, and then call its body, a function of another name.
 * __builtin_dwarf_cfa would not do: clang accepts it, and returns the frame pointer.
 */
#ifndef PRELOAD_ARCH_ENTRY_H
#define PRELOAD_ARCH_ENTRY_H

#include <stdint.h>

/*
 * ENTRY(name): before the body of each hook that uses ENTRY_FRAME; its declaration is before that.
 * ENTRY_BODY(name): the name of the function that is the body. Others call it by `name`.
 * ENTRY_FRAME: the frame address, only in a body, or what is inlined or jumped to there.
 * ENTRY_FRAME_HERE: that of any other function; 0: its frame is laid out otherwise.
 */
#ifdef __aarch64__

#define ENTRY_BODY(name) hook_body_##name
#define ENTRY_FRAME	 (*(const uintptr_t *)__builtin_frame_address(0))
#define ENTRY_FRAME_HERE ((uintptr_t)0)

/* The hint is "bti c": the name may be called by a pointer. */
#define ENTRY(name)                                                                                \
	__typeof__(name) ENTRY_BODY(name);                                                         \
	__asm__(".pushsection .text\n"                                                             \
		"	.balign 16\n"                                                                    \
		"	.globl " #name "\n"                                                        \
		"	.type " #name ", %function\n" #name ":\n"                                  \
		"	.cfi_startproc\n"                                                                \
		"	hint #34\n"                                                                      \
		"	stp x29, x30, [sp, #-16]!\n"                                                     \
		"	.cfi_def_cfa_offset 16\n"                                                        \
		"	.cfi_offset x29, -16\n"                                                          \
		"	.cfi_offset x30, -8\n"                                                           \
		"	mov x29, sp\n"                                                                   \
		"	bl hook_body_" #name "\n"                                                  \
		"	ldp x29, x30, [sp], #16\n"                                                       \
		"	.cfi_def_cfa_offset 0\n"                                                         \
		"	.cfi_restore x29\n"                                                              \
		"	.cfi_restore x30\n"                                                              \
		"	ret\n"                                                                           \
		"	.cfi_endproc\n"                                                                  \
		"	.size " #name ", . - " #name "\n"                                          \
		"	.popsection\n")

#else

#define ENTRY_BODY(name) name
#define ENTRY_FRAME	 ((uintptr_t)__builtin_frame_address(0))
#define ENTRY_FRAME_HERE ENTRY_FRAME
#define ENTRY(name)	 struct entry_none

#endif

#endif
