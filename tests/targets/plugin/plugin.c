/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared object to be loaded and unloaded (tests/targets/dlopen_loop.c): one function, one block.
 */
#include <stdlib.h>

void *plugin_allocate(size_t bytes);

__attribute__((noinline)) static void *plugin_inner(size_t bytes)
{
	void *block = malloc(bytes);

	__asm__ volatile("" ::: "memory");
	return block;
}

void *plugin_allocate(size_t bytes)
{
	void *block = plugin_inner(bytes);

	__asm__ volatile("" ::: "memory");
	return block;
}
