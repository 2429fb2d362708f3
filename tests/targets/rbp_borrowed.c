/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates below assembly that keeps other data in rbp, and whose call frame information does not
 * say so, under a function that is found by its rbp. An unwinder that believes it reads wherever
 * that data points: nowhere, past the end of the stack, into pages that may not be read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

void call_with_rbp(void (*function)(void), uint64_t rbp);

__asm__(".globl call_with_rbp\n"
	".type call_with_rbp, @function\n"
	"call_with_rbp:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	"mov %rsi, %rbp\n"
	"call *%rdi\n"
	"pop %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n");

static NOINLINE void allocate(void)
{
	void *block = malloc(77);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

/* Its frame has no fixed size, so the compiler keeps rbp. */
static NOINLINE void found_by_rbp(unsigned bytes, uint64_t rbp)
{
	char *space = __builtin_alloca(bytes);

	__asm__ volatile("" : : "r"(space) : "memory");
	call_with_rbp(allocate, rbp);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	const uint64_t odd[] = { 0, 1, 8, UINT64_MAX, 0x4141414141414141, here - 4096, here + 3,
		(uint64_t)(uintptr_t)mmap(
			NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		found_by_rbp(32 + i, odd[i]);
	for (uint64_t i = 1; i < 600; i++)
		found_by_rbp(32, here + i * 104000);
	puts("done");
	return 0;
}
