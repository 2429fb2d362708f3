/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that gives out blocks (many_modules.c). */
#include <stdlib.h>

void *many_block(size_t bytes);

void *many_block(size_t bytes)
{
	void *p = malloc(bytes);

	__asm__ volatile("" ::: "memory");
	return p;
}
