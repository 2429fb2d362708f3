/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Computes without a system call, and checks that no register changes by itself: the vector
 * registers, masks and x87 registers that this processor has, the general ones, and the control
 * words.
 *
 *	attach_computes PAGE alloc    allocates between the rounds
 *	attach_computes PAGE free     only frees and calls of libc that allocate
 *	attach_computes PAGE never    never allocates
 */
#include <immintrin.h>

#include "tests/faults/targets/attach_page.h"

#define ROUND 3000000ul /* turns of the loop between two checks: a millisecond */

static unsigned char in[32][64] __attribute__((aligned(64))),
	out[32][64] __attribute__((aligned(64)));
static uint64_t general[8] = { 0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666, 0x7777, 0x8888 };

/* Loads the 16 vector registers by INSTRUCTION, spins, stores them. */
#define VECTORS(move, r)                                                                           \
	move " 0(%[in]), %%" r "0\n" move " 64(%[in]), %%" r "1\n" move " 128(%[in]), %%" r        \
	     "2\n" move " 192(%[in]), %%" r "3\n" move " 256(%[in]), %%" r "4\n" move              \
	     " 320(%[in]), %%" r "5\n" move " 384(%[in]), %%" r "6\n" move " 448(%[in]), %%" r     \
	     "7\n" move " 512(%[in]), %%" r "8\n" move " 576(%[in]), %%" r "9\n" move              \
	     " 640(%[in]), %%" r "10\n" move " 704(%[in]), %%" r "11\n" move " 768(%[in]), %%" r   \
	     "12\n" move " 832(%[in]), %%" r "13\n" move " 896(%[in]), %%" r "14\n" move           \
	     " 960(%[in]), %%" r "15\n"
#define STORES(move, r)                                                                            \
	move " %%" r "0, 0(%[out])\n" move " %%" r "1, 64(%[out])\n" move " %%" r                  \
	     "2, 128(%[out])\n" move " %%" r "3, 192(%[out])\n" move " %%" r                       \
	     "4, 256(%[out])\n" move " %%" r "5, 320(%[out])\n" move " %%" r                       \
	     "6, 384(%[out])\n" move " %%" r "7, 448(%[out])\n" move " %%" r                       \
	     "8, 512(%[out])\n" move " %%" r "9, 576(%[out])\n" move " %%" r                       \
	     "10, 640(%[out])\n" move " %%" r "11, 704(%[out])\n" move " %%" r                     \
	     "12, 768(%[out])\n" move " %%" r "13, 832(%[out])\n" move " %%" r                     \
	     "14, 896(%[out])\n" move " %%" r "15, 960(%[out])\n"
#define SPIN "1: dec %[n]\njnz 1b\n"

#define SPINS(name, attribute, load, store, r)                                                     \
	attribute static NOINLINE void name(void)                                                  \
	{                                                                                          \
		uint64_t n = ROUND;                                                                \
		__asm__ volatile(VECTORS(load, r) SPIN STORES(store, r)                            \
				 : [n] "+r"(n)                                                     \
				 : [in] "r"(in), [out] "r"(out)                                    \
				 : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
				 "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",        \
				 "xmm13", "xmm14", "xmm15");                                       \
	}

SPINS(spin_sse, , "movaps", "movaps", "xmm")
SPINS(spin_avx, __attribute__((target("avx"))), "vmovaps", "vmovaps", "ymm")
SPINS(spin_avx512, __attribute__((target("avx512f"))), "vmovaps", "vmovaps", "zmm")

/* The general registers, the direction of the flags, and a mask register where there are any. */
static NOINLINE void spin_general(void)
{
	uint64_t n = ROUND, *g = general, differs = 0;

	__asm__ volatile("mov 0(%[g]), %%r8\nmov 8(%[g]), %%r9\nmov 16(%[g]), %%r10\n"
			 "mov 24(%[g]), %%r11\nmov 32(%[g]), %%r12\nmov 40(%[g]), %%r13\n"
			 "mov 48(%[g]), %%r14\nmov 56(%[g]), %%r15\n"
			 "1: dec %[n]\njnz 1b\n"
			 "xor 0(%[g]), %%r8\nxor 8(%[g]), %%r9\nxor 16(%[g]), %%r10\n"
			 "xor 24(%[g]), %%r11\nxor 32(%[g]), %%r12\nxor 40(%[g]), %%r13\n"
			 "xor 48(%[g]), %%r14\nxor 56(%[g]), %%r15\n"
			 "or %%r9, %%r8\nor %%r10, %%r8\nor %%r11, %%r8\nor %%r12, %%r8\n"
			 "or %%r13, %%r8\nor %%r14, %%r8\nor %%r15, %%r8\nmov %%r8, %[d]\n"
			 : [n] "+r"(n), [d] "+r"(differs)
			 : [g] "r"(g)
			 : "memory", "cc", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15");
	page_need(differs == 0, "general registers differ", (long)differs);
}

/* Numbers that stay in the x87 registers, rounding as it was set. */
static NOINLINE void spin_x87(void)
{
	long double sum = 0;
	unsigned short control = 0;
	uint64_t n = ROUND;

	__asm__ volatile("fldpi\nfld1\nfldl2e\n1: dec %[n]\njnz 1b\nfaddp\nfaddp\nfnstcw %[c]\n"
			 : [n] "+r"(n), "=t"(sum), [c] "=m"(control)
			 :
			 : "cc");
	page_need(sum > 5.58L && sum < 5.59L, "x87 registers, in thousandths", (long)(sum * 1000));
	page_need(control == 0x37f, "the x87 control word", control);
	page_need((_mm_getcsr() & 0xffc0) == 0x9f80, "the SSE control word", _mm_getcsr());
}

static void vectors_check(void (*spins)(void), unsigned bytes)
{
	for (unsigned i = 0; i < 16; i++)
		memset(in[i], (int)(i * 11 + 3), sizeof(in[i]));
	memset(out, 0, sizeof(out));
	spins();
	for (unsigned i = 0; i < 16; i++)
		page_need(memcmp(in[i], out[i], bytes) == 0, "a vector register has changed", i);
	page_goes_on();
}

static void round_of_all(void)
{
	vectors_check(spin_sse, 16);
	if (__builtin_cpu_supports("avx"))
		vectors_check(spin_avx, 32);
	if (__builtin_cpu_supports("avx512f"))
		vectors_check(spin_avx512, 64);
	spin_general();
	spin_x87();
}

/* Blocks that libc makes, and the program frees. */
static void libc_allocates(void)
{
	char *text = NULL, *copy;

	page_need(asprintf(&text, "%d and %s", 42, "more") == 11, "asprintf", 0);
	copy = strdup(text);
	page_need(copy && strcmp(copy, "42 and more") == 0, "strdup", 0);
	free(text);
	free(copy);
}

int main(int argc, char **argv)
{
	unsigned state = 1;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	_mm_setcsr(0x9f80); /* flushes to zero: not the usual value */
	page_ready();
	while (!page_stopped()) {
		round_of_all();
		if (strcmp(argv[2], "alloc") == 0)
			page_allocate(&state);
		else if (strcmp(argv[2], "free") == 0)
			libc_allocates();
	}
	return page_end();
}
