/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread pointer, relative to which thread-local variables are addressed. Any thread. */
#ifndef PRELOAD_THREAD_POINTER_H
#define PRELOAD_THREAD_POINTER_H

#include <stdint.h>

/* The calling thread's pointer (x86-64, i386: TLS variant II; aarch64: variant I). 0: not supported
 * on this architecture.
 */
static inline uint64_t thread_pointer(void)
{
#ifdef __x86_64__
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
#elif defined(__i386__)
	uint32_t pointer;

	__asm__("mov %%gs:0, %0" : "=r"(pointer));
	return pointer;
#elif defined(__aarch64__)
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#else
	return 0;
#endif
}

#endif
