/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thunk (valgrind_thunk.h). For the unwinder its frame must look like a hook's: the caller's
 * rbp and the return address in the two words below the caller's stack pointer. A function that
 * calls nothing may have data there, so while the request is carried out these two words are
 * saved elsewhere; its arguments, which may lie there, are copied first.
 */
#include "preload/valgrind_thunk.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <stdint.h>

/* What functions of libc use: x87, SSE, AVX, and the three parts of AVX-512. */
#define STATES	   0xe7u
#define AREA_BYTES 2752 /* of these, in the standard format, on any processor */

/* What xsave saves; 0: there is none, and fxsave saves all. */
uint32_t valgrind_thunk_states __attribute__((visibility("hidden")));
void valgrind_thunk_start(void)
{
	uint32_t a, b, c, d, states = STATES;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	for (unsigned i = 2; i < 8; i++)
		if (states & 1u << i && __get_cpuid_count(13, i, &a, &b, &c, &d) &&
			a + b > AREA_BYTES)
			states &= ~(1u << i);
	valgrind_thunk_states = states;
}

/* clang-format off */
#define AS_TEXT(x) #x
#define NUMBER(x) AS_TEXT(x)

__asm__(
	".pushsection .text\n"
	".balign 64\n"
	".globl valgrind_thunk\n"
	".hidden valgrind_thunk\n"
	".type valgrind_thunk, @function\n"
	"valgrind_thunk:\n"
	".cfi_startproc\n"
	".cfi_def_cfa rsp, 136\n"
	".cfi_offset rip, -136\n"
	"	pushq %rbp\n"
	".cfi_def_cfa rsp, 144\n"
	".cfi_offset rbp, -144\n"
	"	leaq 128(%rsp), %rbp\n"
	".cfi_def_cfa rbp, 16\n"
	"	pushq %rax\n"
	"	pushq %rcx\n"
	"	pushq %rdx\n"
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r8\n"
	"	pushq %r9\n"
	"	pushq %r10\n"
	"	pushq %r11\n"
	"	pushq (%rbp)\n"
	"	pushq 8(%rbp)\n"
	"	pushq 40(%rax)\n"
	"	pushq 32(%rax)\n"
	"	pushq 24(%rax)\n"
	"	pushq 16(%rax)\n"
	"	pushq 8(%rax)\n"
	"	pushq (%rax)\n"
	"	movq %rsp, %rdi\n"
	"	movq -128(%rbp), %rcx\n"
	"	movq %rcx, (%rbp)\n"
	"	movq -120(%rbp), %rcx\n"
	"	movq %rcx, 8(%rbp)\n"
	".cfi_offset rbp, -16\n"
	".cfi_offset rip, -8\n"
	"	movq %rbp, %rsi\n"
	"	subq $" NUMBER(AREA_BYTES) ", %rsp\n"
	"	andq $-64, %rsp\n"
	/* The area's header, of which xrstor wants zeros. */
	"	xorl %eax, %eax\n"
	"	movq %rax, 512(%rsp)\n"
	"	movq %rax, 520(%rsp)\n"
	"	movq %rax, 528(%rsp)\n"
	"	movq %rax, 536(%rsp)\n"
	"	movq %rax, 544(%rsp)\n"
	"	movq %rax, 552(%rsp)\n"
	"	movq %rax, 560(%rsp)\n"
	"	movq %rax, 568(%rsp)\n"
	"	xorl %edx, %edx\n"
	"	movl valgrind_thunk_states(%rip), %eax\n"
	"	testl %eax, %eax\n"
	"	jz 1f\n"
	"	xsave64 (%rsp)\n"
	"	call valgrind_call\n"
	"	xorl %edx, %edx\n"
	"	movl valgrind_thunk_states(%rip), %eax\n"
	"	xrstor64 (%rsp)\n"
	"	jmp 2f\n"
	"1:	fxsave64 (%rsp)\n"
	"	call valgrind_call\n"
	"	fxrstor64 (%rsp)\n"
	"2:	movq -208(%rbp), %rcx\n"
	"	movq %rcx, (%rbp)\n"
	"	movq -216(%rbp), %rcx\n"
	"	movq %rcx, 8(%rbp)\n"
	".cfi_offset rbp, -144\n"
	".cfi_offset rip, -136\n"
	"	leaq -200(%rbp), %rsp\n"
	"	popq %r11\n"
	"	popq %r10\n"
	"	popq %r9\n"
	"	popq %r8\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rdx\n"
	"	popq %rcx\n"
	"	popq %rax\n"
	"	popq %rbp\n"
	".cfi_def_cfa rsp, 136\n"
	".cfi_restore rbp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size valgrind_thunk, .-valgrind_thunk\n"
	".popsection\n");
/* clang-format on */

#endif
