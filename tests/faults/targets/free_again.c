/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frees that come twice. Usage: free_again WHAT
 *   reused  the address is another block's by then, which the second free gives back
 *   stale   it is unowned: for an allocator that does not mind
 * Prints how many blocks were allocated, given back, and freed in vain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20000u

static unsigned allocated, given_back, in_vain;

static __attribute__((noinline)) char *site_block(size_t n)
{
	char *volatile p = malloc(n);

	allocated += p != NULL;
	return p;
}

static __attribute__((noinline)) char *site_other(size_t n)
{
	char *volatile p = malloc(n);

	allocated += p != NULL;
	return p;
}

/* The compiler is not to know what was freed. */
static void give(char *volatile p)
{
	free(p);
	given_back++;
}

static void reused(size_t n)
{
	char *first = site_block(n), *other;

	give(first);
	other = site_other(n);
	if (other != first) {
		give(other);
		return;
	}
	give(first);
	other = site_other(n);
	if (n % 5 == 0)
		return; /* stays alive */
	give(other);
}

static void stale(size_t n)
{
	char *volatile p = site_block(n);

	give(p);
	free(p);
	free(p);
	in_vain += 2;
	p = site_other(n);
	if (n % 5 != 0)
		give(p);
}

int main(int argc, char **argv)
{
	int is_stale = argc > 1 && !strcmp(argv[1], "stale");

	for (unsigned i = 0; i < ROUNDS; i++)
		(is_stale ? stale : reused)(1 + i % 1000);
	dprintf(1, "%u %u %u\n", allocated, given_back, in_vain);
	return 0;
}
