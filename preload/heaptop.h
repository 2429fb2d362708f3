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
 * built with an older version of this header runs with a newer heaptop, and vice versa: functions
 * that the older one lacks do nothing. Define HEAPTOP_NONE to make all of them empty.
 */
#ifndef HEAPTOP_H
#define HEAPTOP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * libheaptop.so defines the functions that these call. The references are weak, so without the
 * library their addresses are null. The addresses are read from the global offset table, since in
 * a program at a fixed address the linker would otherwise fix them as null. On architectures
 * other than x86-64 and i386 the functions do nothing.
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

/* Marks this moment under a name. heaptop stores the figures of each call site at its next
 * refresh, and shows what has changed since then, as with the key m. Call this where a phase of
 * the program begins. */
HEAPTOP_FUNCTION_(mark, (const char *name), (name))

/* Requests a leak scan now. */
HEAPTOP_FUNCTION_(scan, (void), ())

/* Requests a snapshot of all call sites: a new file heaptop-snapshot-PID-N.heaptop in heaptop's
 * current directory, for heaptop -r. */
HEAPTOP_FUNCTION_(snapshot, (void), ())

/* Sets the calling thread's name on heaptop's screen, if the kernel's 15 characters are too few. */
HEAPTOP_FUNCTION_(thread_name, (const char *name), (name))

/* Declares that the program intends never to free the block that contains `p`: no leak scan
 * reports it, nor the blocks to which only it points. */
HEAPTOP_FUNCTION_(leak_intended, (const void *p), (p))

/*
 * Blocks of a pool, an arena or an allocator of the program's own: heaptop shows their call sites
 * separately from the heap (key M), as kind "pool", and they change no figure of the heap. The
 * site's stack begins at the function that calls heaptop_block_alloc. Report a block when it is
 * handed out, and its end before the pool can hand it out again. Where a new block overlaps an
 * old one, the old one ends. Reporting the end of a block that was never reported, or of NULL,
 * has no effect.
 */
HEAPTOP_FUNCTION_(block_alloc, (const void *p, size_t bytes), (p, bytes))
/* Reports the end of the block that starts at `p`. */
HEAPTOP_FUNCTION_(block_free, (const void *p), (p))
/* Reports the end of all blocks in this range: the pool starts again, or returns the memory. */
HEAPTOP_FUNCTION_(pool_reset, (const void *start, size_t bytes), (start, bytes))

/* Allocations of the calling thread between these two are not recorded; only their number and
 * bytes are counted. The calls nest and must be paired, even if an exception is thrown. */
HEAPTOP_FUNCTION_(pause, (void), ())
HEAPTOP_FUNCTION_(resume, (void), ())

#undef HEAPTOP_FUNCTION_
#undef HEAPTOP_FIND_
#undef HEAPTOP_INLINE_

#ifdef __cplusplus
}
#endif

#endif
