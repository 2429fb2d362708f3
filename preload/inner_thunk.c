/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thunk (inner_thunk.h). Its frame, from the caller's return address down: the caller's rbp (so
 * it is a hook's frame, as record.h wants it), then struct inner_call, whose last word is the
 * entry's number and later the address of the function as it was. An exception that the function
 * throws passes through: the landing pad is a cleanup, as hooks_cxx.c's.
 */
#include "preload/inner_thunk.h"

#ifdef __x86_64__

/* clang-format off */
#define AS_TEXT(x) #x
#define NUMBER(x) AS_TEXT(x)

#define SAVE_XMM(n)    "	movaps %xmm" #n ", 16*" #n "(%rsp)\n"
#define RESTORE_XMM(n) "	movaps 16*" #n "(%rsp), %xmm" #n "\n"
#define ALL_XMM(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)

#define SAVE                                                                                       \
	"	movq %rdi, 256(%rsp)\n"                                                            \
	"	movq %rsi, 264(%rsp)\n"                                                            \
	"	movq %rdx, 272(%rsp)\n"                                                            \
	"	movq %rcx, 280(%rsp)\n"                                                            \
	"	movq %r8, 288(%rsp)\n"                                                             \
	"	movq %r9, 296(%rsp)\n"                                                             \
	"	movq %rax, 304(%rsp)\n"                                                            \
	"	movq %r10, 312(%rsp)\n"                                                            \
	"	movq %r11, 320(%rsp)\n"                                                            \
	ALL_XMM(SAVE_XMM)

/* Changes no flags. */
#define RESTORE                                                                                    \
	ALL_XMM(RESTORE_XMM)                                                                       \
	"	movq 256(%rsp), %rdi\n"                                                            \
	"	movq 264(%rsp), %rsi\n"                                                            \
	"	movq 272(%rsp), %rdx\n"                                                            \
	"	movq 280(%rsp), %rcx\n"                                                            \
	"	movq 288(%rsp), %r8\n"                                                             \
	"	movq 296(%rsp), %r9\n"                                                             \
	"	movq 304(%rsp), %rax\n"                                                            \
	"	movq 312(%rsp), %r10\n"                                                            \
	"	movq 320(%rsp), %r11\n"

__asm__(
	".weak __gcc_personality_v0\n"
	".weak _Unwind_Resume\n"
	".pushsection .data.rel.local.DW.ref.__gcc_personality_v0,\"awG\",@progbits,DW.ref.__gcc_personality_v0,comdat\n"
	".hidden DW.ref.__gcc_personality_v0\n"
	".weak DW.ref.__gcc_personality_v0\n"
	".balign 8\n"
	".type DW.ref.__gcc_personality_v0, @object\n"
	".size DW.ref.__gcc_personality_v0, 8\n"
	"DW.ref.__gcc_personality_v0:\n"
	"	.quad __gcc_personality_v0\n"
	".popsection\n"

	".pushsection .text\n"
	".balign 64\n"
	".globl inner_thunk\n"
	".hidden inner_thunk\n"
	".globl inner_thunk_return\n"
	".hidden inner_thunk_return\n"
	".type inner_thunk, @function\n"
	"inner_thunk:\n"
	".cfi_startproc\n"
	".cfi_personality 0x9b, DW.ref.__gcc_personality_v0\n"
	".cfi_lsda 0x1b, .Linner_thunk_lsda\n"
	".cfi_def_cfa rsp, 24\n"
	".cfi_offset rip, -8\n"
	".cfi_offset rbp, -16\n"
	"	leaq 8(%rsp), %rbp\n"
	".cfi_def_cfa rbp, 16\n"
	"	subq $" NUMBER(INNER_THUNK_BYTES) "-8, %rsp\n"
	SAVE
	"	movq %rsp, %rdi\n"
	"	movq %rbp, %rsi\n"
	"	call inner_call_before\n"
	"	testl %eax, %eax\n"
	RESTORE
	"	jz 1f\n"
	".Linner_thunk_call:\n"
	"	call *-8(%rbp)\n"
	"inner_thunk_return:\n"
	SAVE
	"	movq %rsp, %rdi\n"
	"	movq %rbp, %rsi\n"
	"	call inner_call_after\n"
	RESTORE
	".cfi_remember_state\n"
	"	leave\n"
	".cfi_def_cfa rsp, 8\n"
	".cfi_restore rbp\n"
	"	ret\n"
	/* Not recorded: on to the function, with the stack as it was. What is below rsp is safe for
	 * 128 bytes. */
	".cfi_restore_state\n"
	".cfi_remember_state\n"
	"1:	leave\n"
	".cfi_def_cfa rsp, 8\n"
	".cfi_restore rbp\n"
	"	jmp *-16(%rsp)\n"
	".cfi_restore_state\n"
	".Linner_thunk_landing:\n"
	"	movq %rax, 304(%rsp)\n"
	"	movq %rsp, %rdi\n"
	"	movq %rbp, %rsi\n"
	"	call inner_call_abandoned\n"
	"	movq 304(%rsp), %rdi\n"
	"	call *_Unwind_Resume@GOTPCREL(%rip)\n"
	"	ud2\n"
	".cfi_endproc\n"
	".size inner_thunk, .-inner_thunk\n"
	".popsection\n"

	/* No @LPStart, no types; call sites: only that of the function. */
	".pushsection .gcc_except_table,\"a\",@progbits\n"
	".Linner_thunk_lsda:\n"
	"	.byte 0xff, 0xff, 0x01\n"
	"	.uleb128 .Linner_thunk_sites_end-.Linner_thunk_sites\n"
	".Linner_thunk_sites:\n"
	"	.uleb128 .Linner_thunk_call-inner_thunk\n"
	"	.uleb128 inner_thunk_return-.Linner_thunk_call\n"
	"	.uleb128 .Linner_thunk_landing-inner_thunk\n"
	"	.uleb128 0\n"
	".Linner_thunk_sites_end:\n"
	".popsection\n");
/* clang-format on */

#else

/* No function is patched: nothing returns here. */
const char inner_thunk_return[1] __attribute__((visibility("hidden")));

#endif
