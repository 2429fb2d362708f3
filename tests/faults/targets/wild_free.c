/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives the allocator what it did not hand out, or has back already. Usage: wild_free WHAT: stack,
 * global, interior, odd, twice, twice_large, far. How it ends is the allocator's affair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char global[4096];

static char *volatile pointer;

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char local[4096];

	memset(local, 0, sizeof(local));
	pointer = malloc(1000);
	if (!strcmp(what, "stack"))
		free((pointer = local + 64));
	else if (!strcmp(what, "global"))
		free((pointer = global + 64));
	else if (!strcmp(what, "interior"))
		free(memset(pointer, 0, 1000) + 48);
	else if (!strcmp(what, "odd"))
		free(pointer + 3);
	else if (!strcmp(what, "twice"))
		free(pointer);
	else if (!strcmp(what, "twice_large"))
		pointer = malloc(100000), malloc(2000), free(pointer);
	else if (!strcmp(what, "far")) /* no mapping there */
		pointer = (char *)(16ul << 40);
	if (!strncmp(what, "twice", 5) || !strcmp(what, "far"))
		free(pointer);
	puts("still here");
	return 0;
}
