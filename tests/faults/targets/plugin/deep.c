/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library that may be loaded with RTLD_DEEPBIND or into a namespace of its own, and then uses
 * another malloc and free than the program: that of libc itself, or of its own copy of libc.
 */
#include <stdlib.h>

void *deep_malloc(size_t bytes);
void deep_free(void *p);
void deep_call(void (*function)(void));

void *deep_malloc(size_t bytes)
{
	return malloc(bytes);
}

void deep_free(void *p)
{
	free(p);
}

void deep_call(void (*function)(void))
{
	function();
	__asm__ volatile("" ::: "memory");
}
