/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints the usable size and the alignment of blocks of every size up to 100,000, and writes the
 * whole of what it was given. With and without heaptop the output must be the same.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *api, size_t bytes, void *block)
{
	size_t usable = malloc_usable_size(block);

	memset(block, 0xa5, usable);
	printf("%s %zu %zu %d\n", api, bytes, usable, (int)((uintptr_t)block % 16));
	free(block);
}

int main(void)
{
	for (size_t n = 0; n < 100000; n = n < 2000 ? n + 1 : n + 97) {
		show("malloc", n, malloc(n));
		show("calloc", n, calloc(1, n));
		show("realloc", n, realloc(malloc(1), n + 1));
		show("aligned_alloc", n, aligned_alloc(16, n));
	}
	printf("none %zu\n", malloc_usable_size(NULL));
	return 0;
}
