// SPDX-License-Identifier: GPL-3.0-or-later
// A small C program that tests/e2e/diff.py builds again and again, each time with one change:
// ADDED, GROWN, MOVED, INLINED or RENAMED. An argument is bytes that it allocates besides.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *kept[1000];
static int count;

static __attribute__((noinline)) void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

#ifdef INLINED
static inline __attribute__((always_inline)) void token(void)
#else
static __attribute__((noinline)) void token(void)
#endif
{
	kept[count++] = xmalloc(100);
}

static __attribute__((noinline)) void parse(int tokens)
{
	for (int i = 0; i < tokens; i++)
		token();
}

#ifdef RENAMED
#define cache cache_entries
#endif
static __attribute__((noinline)) void cache(void)
{
	for (int i = 0; i < 5; i++)
		kept[count++] = calloc(1, 64);
#ifdef GROWN
	for (int i = 0; i < 50; i++)
		kept[count++] = calloc(1, 64);
#endif
#ifndef MOVED
	kept[count++] = xmalloc(3000);
#endif
}

static __attribute__((noinline)) void finish(int argc, char **argv)
{
	kept[count++] = xmalloc(20);
#ifdef MOVED
	kept[count++] = xmalloc(3000);
#endif
#ifdef ADDED
	kept[count++] = realloc(malloc(10), 5000);
#endif
	if (argc > 1)
		kept[count++] = malloc((size_t)atoi(argv[1]));
	for (int i = 0; i < 100; i++)
		free(xmalloc(30));
}

int main(int argc, char **argv)
{
#ifdef INLINED
	parse(60);
#else
	parse(10);
#endif
	cache();
	finish(argc, argv);
	_exit(0);
}
