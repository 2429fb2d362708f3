/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library to be preloaded beside heaptop's, before or after it: it allocates in an IFUNC
 * resolver, which the loader calls when it has not yet relocated the library (nor, perhaps,
 * heaptop's), and in its constructor. early_blocks gives the blocks to whoever wants to free or
 * move them.
 */
#include <stdlib.h>
#include <string.h>

#define BLOCKS 12
#define BYTES  100

static void *blocks[BLOCKS];
static unsigned used;

static void keep(void *p)
{
	if (p)
		memset(p, 0x5a, BYTES);
	blocks[used++] = p;
}

static void plain_function(void)
{
}

__attribute__((used)) static void (*resolve(void))(void)
{
	keep(malloc(BYTES));
	keep(calloc(1, BYTES));
	keep(realloc(malloc(10), BYTES));
	keep(aligned_alloc(64, BYTES));
	keep(realloc(NULL, BYTES));
	free(malloc(BYTES));
	return plain_function;
}

static void resolved(void) __attribute__((ifunc("resolve")));

__attribute__((constructor)) static void begin(void)
{
	void *p = NULL;

	resolved();
	keep(malloc(BYTES));
	keep(posix_memalign(&p, 256, BYTES) == 0 ? p : NULL);
	keep(realloc(NULL, BYTES));
}

/* `at` gets the blocks, how many is returned; each is of 100 bytes of 0x5a, or NULL. */
unsigned early_blocks(void **at, unsigned room);
unsigned early_blocks(void **at, unsigned room)
{
	for (unsigned i = 0; i < used && i < room; i++)
		at[i] = blocks[i];
	return used;
}
