/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls without libc's wrapper, for code that must leave errno alone or runs where libc must
 * not. They return what the kernel returns: a value or -errno. Any thread.
 */
#ifndef PRELOAD_CALL_H
#define PRELOAD_CALL_H

#include <stdint.h>

#ifdef __x86_64__

/* The sixth argument is 0. */
static inline long call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long rc = number;

	__asm__ volatile("syscall"
			 : "+a"(rc)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return rc;
}

static inline long call_pointer(const volatile void *p)
{
	return (long)(uintptr_t)p;
}

#endif

#endif
