/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library that brings an allocator of its own, under a name that heaptop knows: blocks of a
 * static array. Its constructor and its destructor use it, too.
 */
#include <stddef.h>
#include <stdlib.h>

#define BLOCKS 1024
#define BYTES  256

static char memory[BLOCKS][BYTES] __attribute__((aligned(64)));
static unsigned char taken[BLOCKS];

void *je_malloc(size_t size);
void je_free(void *p);
void *inner_plugin_use(size_t size);
void inner_plugin_drop(void *p);

__attribute__((noinline)) void *je_malloc(size_t size)
{
	for (unsigned i = 0; size <= BYTES && i < BLOCKS; i++)
		if (!taken[i]) {
			taken[i] = 1;
			return memory[i];
		}
	return NULL;
}

__attribute__((noinline)) void je_free(void *p)
{
	if (p)
		taken[((char *)p - memory[0]) / BYTES] = 0;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void *inner_plugin_use(size_t size)
{
	void *p = je_malloc(size);

	__asm__ volatile("" ::: "memory");
	return p;
}

__attribute__((noinline)) void inner_plugin_drop(void *p)
{
	je_free(p);
	__asm__ volatile("" ::: "memory");
}

static void *own;

__attribute__((constructor)) static void begin(void)
{
	own = inner_plugin_use(24);
}

__attribute__((destructor)) static void end(void)
{
	inner_plugin_drop(own);
}
