/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls allocators as a compiler does that knows their bodies (gcc's -fipa-ra): with live values in
 * every register that the function does not touch, also those that a call may usually change.
 * Ends 0 if all of them survive. The functions are those of inner_registers.rules.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns its second argument; touches nothing but rax. Its entry needs two instructions moved. */
void *keep_alloc(size_t size, void *block);
/* Touches nothing. */
void keep_free(void *block);

__asm__(".text\n.globl keep_alloc\n.type keep_alloc, @function\nkeep_alloc:\n"
	".cfi_startproc\nmov %rsi,%rax\nnop\nnop\nret\n.cfi_endproc\n.size keep_alloc, "
	".-keep_alloc\n"
	".globl keep_free\n.type keep_free, @function\nkeep_free:\n"
	".cfi_startproc\nnopl 0(%rax)\nnopl 0(%rax)\nret\n.cfi_endproc\n.size keep_free, "
	".-keep_free\n");

struct registers {
	uint64_t integer[9]; /* rdi rsi rdx rcx r8 r9 rax r10 r11 */
	uint64_t kept[6]; /* rbx rbp r12 r13 r14 r15 */
	uint64_t vector[16][2] __attribute__((aligned(16)));
};

/* Loads all of them, calls, stores all of them. */
void call_with(struct registers *r, const void *function);
__asm__(".text\n.globl call_with\n.type call_with, @function\ncall_with:\n.cfi_startproc\n"
	"push %rbx\n.cfi_adjust_cfa_offset 8\npush %rbp\n.cfi_adjust_cfa_offset 8\n"
	"push %r12\n.cfi_adjust_cfa_offset 8\npush %r13\n.cfi_adjust_cfa_offset 8\n"
	"push %r14\n.cfi_adjust_cfa_offset 8\npush %r15\n.cfi_adjust_cfa_offset 8\n"
	"push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n"
	"sub $8,%rsp\n.cfi_adjust_cfa_offset 8\n"
	"mov %rdi,%rax\n"
#define VECTOR(op)                                                                                 \
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)    \
		op(14) op(15)
#define LOAD(n)	 "movaps 128+16*" #n "(%rax),%xmm" #n "\n"
#define STORE(n) "movaps %xmm" #n ",128+16*" #n "(%rax)\n"
	VECTOR(LOAD) "mov 72(%rax),%rbx\nmov 80(%rax),%rbp\nmov 88(%rax),%r12\nmov 96(%rax),%r13\n"
		     "mov 104(%rax),%r14\nmov 112(%rax),%r15\n"
		     "mov 0(%rax),%rdi\nmov 8(%rax),%rsi\nmov 16(%rax),%rdx\nmov 24(%rax),%rcx\n"
		     "mov 32(%rax),%r8\nmov 40(%rax),%r9\nmov 56(%rax),%r10\nmov 64(%rax),%r11\n"
		     "mov 48(%rax),%rax\n"
		     "call *8(%rsp)\n"
		     "mov %rax,(%rsp)\nmov 16(%rsp),%rax\n"
		     "mov %rdi,0(%rax)\nmov %rsi,8(%rax)\nmov %rdx,16(%rax)\nmov %rcx,24(%rax)\n"
		     "mov %r8,32(%rax)\nmov %r9,40(%rax)\nmov %r10,56(%rax)\nmov %r11,64(%rax)\n"
		     "mov %rbx,72(%rax)\nmov %rbp,80(%rax)\nmov %r12,88(%rax)\nmov %r13,96(%rax)\n"
		     "mov %r14,104(%rax)\nmov %r15,112(%rax)\nmov (%rsp),%rbx\nmov "
		     "%rbx,48(%rax)\n" VECTOR(
			     STORE) "add $24,%rsp\n.cfi_adjust_cfa_offset -24\n"
				    "pop %r15\n.cfi_adjust_cfa_offset -8\npop "
				    "%r14\n.cfi_adjust_cfa_offset -8\n"
				    "pop %r13\n.cfi_adjust_cfa_offset -8\npop "
				    "%r12\n.cfi_adjust_cfa_offset -8\n"
				    "pop %rbp\n.cfi_adjust_cfa_offset -8\npop "
				    "%rbx\n.cfi_adjust_cfa_offset -8\n"
				    "ret\n.cfi_endproc\n.size call_with, .-call_with\n");

static char blocks[1000][64] __attribute__((aligned(64)));

static void fill(struct registers *r, uint64_t seed)
{
	uint64_t *word = (uint64_t *)(void *)r;

	for (size_t i = 0; i < sizeof(*r) / sizeof(*word); i++)
		word[i] = (seed + i) * 0x9e3779b97f4a7c15ull;
}

static void check_call(
	uint64_t seed, const void *function, uint64_t first, uint64_t second, int returns)
{
	struct registers before, after;

	fill(&before, seed);
	before.integer[0] = first;
	before.integer[1] = second;
	after = before;
	call_with(&after, function);
	if (returns)
		before.integer[6] = second;
	if (memcmp(&before, &after, sizeof(before)) != 0)
		_exit(3);
}

int main(void)
{
	for (uint64_t i = 0; i < 1000; i++) {
		check_call(
			i, (const void *)keep_alloc, 1 + i % 64, (uint64_t)(uintptr_t)blocks[i], 1);
		if (i % 10)
			check_call(
				i, (const void *)keep_free, (uint64_t)(uintptr_t)blocks[i], 0, 0);
	}
	return 0;
}
