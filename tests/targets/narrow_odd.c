/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls as old code for i386 makes them: on a stack that is aligned to 4 bytes only, and in the
 * middle of MMX code, where the x87 registers are taken. Ends with 0 if the MMX register is as it
 * was. Allocates 2,000 blocks, and frees half of them. For i386.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __i386__

/* Calls function(argument) with the stack 4 bytes below a multiple of 16. */
static void *call_unaligned(void *function, uintptr_t argument)
{
	void *result;

	__asm__ volatile("movl %%esp, %%esi\n\t"
			 "andl $-16, %%esp\n\t"
			 "subl $16, %%esp\n\t"
			 "pushl %2\n\t"
			 "call *%1\n\t"
			 "movl %%esi, %%esp"
			 : "=a"(result)
			 : "D"(function), "b"(argument)
			 : "esi", "ecx", "edx", "memory", "cc");
	return result;
}

__attribute__((noinline)) static void site_unaligned(size_t bytes)
{
	void *freed = call_unaligned((void *)malloc, bytes);

	call_unaligned((void *)malloc, bytes);
	call_unaligned((void *)free, (uintptr_t)freed);
}

int main(void)
{
	const uint32_t written = 0x12345678;
	uint32_t read = 0;

	for (int i = 0; i < 1000; i++) {
		__asm__ volatile("movd %0, %%mm3" : : "r"(written));
		site_unaligned(24);
		__asm__ volatile("movd %%mm3, %0" : "=r"(read));
		__asm__ volatile("emms");
		if (read != written)
			return 1;
	}
	return 0;
}

#else

int main(void)
{
	return 2;
}

#endif
