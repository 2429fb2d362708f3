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

#define CALL_EXISTS 1

#elif defined(__i386__)

/* Without a sixth argument. */
static inline long call(long number, long a, long b, long c, long d, long e)
{
	long rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return rc;
}

#define CALL_EXISTS 1

#elif defined(__aarch64__)

static inline long call(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#define CALL_EXISTS 1

#endif

static inline long call_pointer(const volatile void *p)
{
	return (long)(uintptr_t)p;
}

#endif
