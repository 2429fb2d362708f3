/* SPDX-License-Identifier: 0BSD */
/*
 * heaptop.h: what a program can tell heaptop about its memory. Include it; there is nothing to
 * link. Without heaptop each function is one test of a pointer. None of them allocates.
 *
 * Unlike the rest of heaptop this header may become part of any program: permission to use, copy,
 * modify, and distribute it for any purpose, with or without fee, is hereby granted. It is provided
 * "as is", and its authors disclaim all warranties with regard to it.
 *
 * For C and C++, GCC and Clang, on Linux. Any thread may call any of these. A program that was
 * built with an older version of this header runs with a newer heaptop, and the other way round:
 * what the older one does not know does nothing. Define HEAPTOP_NONE to leave no trace of them.
 */
#ifndef HEAPTOP_H
#define HEAPTOP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * heaptop's library defines the functions that these call. Without it their addresses are null: the
 * references are weak. They are taken from the global offset table, since in a program at a fixed
 * address the linker would otherwise make them null for good.
 */
#if defined(HEAPTOP_NONE)
#define HEAPTOP_FIND_(function, name) ((void)(function))
#elif defined(__x86_64__)
#define HEAPTOP_FIND_(function, name)                                                              \
	__asm__(".weak heaptop_api_" #name "\n\tmovq heaptop_api_" #name "@GOTPCREL(%%rip), %0"    \
		: "=r"(function))
#elif defined(__i386__)
#define HEAPTOP_FIND_(function, name)                                                              \
	__asm__(".weak heaptop_api_" #name "\n\tcall 1f\n1:\tpopl %0\n\t"                          \
		"addl $_GLOBAL_OFFSET_TABLE_+[.-1b], %0\n\tmovl heaptop_api_" #name "@GOT(%0), %0" \
		: "=r"(function)                                                                   \
		:                                                                                  \
		: "cc")
#else
#define HEAPTOP_FIND_(function, name) ((void)(function))
#endif

#define HEAPTOP_INLINE_ static inline __attribute__((always_inline, unused))
#define HEAPTOP_FUNCTION_(name, parameters, arguments)                                             \
	HEAPTOP_INLINE_ void heaptop_##name parameters                                             \
	{                                                                                          \
		void(*function) parameters = NULL;                                                 \
                                                                                                   \
		HEAPTOP_FIND_(function, name);                                                     \
		if (__builtin_expect(function != NULL, 0))                                         \
			function arguments;                                                        \
	}

/* Whether heaptop records this process. */
HEAPTOP_INLINE_ int heaptop_is_on(void)
{
	int (*function)(void) = NULL;

	HEAPTOP_FIND_(function, is_on);
	return function ? function() : 0;
}

/* Names this moment. heaptop keeps the figures of each call site as of its next refresh, and shows
 * what has changed since, as with the key m. Call it where a phase of the program begins. */
HEAPTOP_FUNCTION_(mark, (const char *name), (name))

/* Asks for a leak scan, now. */
HEAPTOP_FUNCTION_(scan, (void), ())

/* Asks for a snapshot of all call sites: a new file heaptop-snapshot-PID-N.heaptop in the directory
 * that heaptop runs in, for heaptop -r. */
HEAPTOP_FUNCTION_(snapshot, (void), ())

/* The calling thread's name on heaptop's screen, where the kernel's 15 characters are too few. */
HEAPTOP_FUNCTION_(thread_name, (const char *name), (name))

/* The block that contains `p` is never freed, and that is meant: no leak scan reports it, nor
 * what only it points to. */
HEAPTOP_FUNCTION_(leak_intended, (const void *p), (p))

/*
 * Blocks of a pool, an arena or an allocator of the program's own: heaptop shows their call sites
 * apart from the heap (key M), as kind "pool", and they change no figure of the heap. The site's
 * stack begins at the function that calls heaptop_block_alloc. Report a block when it is handed
 * out, and free it before the pool can hand it out again; where a new block overlaps an old one,
 * the old one has ended there. Frees of what was never reported, and of NULL, do nothing.
 */
HEAPTOP_FUNCTION_(block_alloc, (const void *p, size_t bytes), (p, bytes))
/* The block that starts at `p` is free. */
HEAPTOP_FUNCTION_(block_free, (const void *p), (p))
/* All blocks in this range are free: the pool starts anew, or gives the range back. */
HEAPTOP_FUNCTION_(pool_reset, (const void *start, size_t bytes), (start, bytes))

/* What the calling thread allocates between these two is not recorded; how much it was, is. They
 * nest, and must be paired, also when an exception passes. */
HEAPTOP_FUNCTION_(pause, (void), ())
HEAPTOP_FUNCTION_(resume, (void), ())

#undef HEAPTOP_FUNCTION_
#undef HEAPTOP_FIND_
#undef HEAPTOP_INLINE_

#ifdef __cplusplus
}
#endif

#endif
