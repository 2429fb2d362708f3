/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that do nothing but realloc between sizes that force the block to move, so that an
 * address given up by one thread is at once another's. Everything is freed before the end: a
 * tracker that takes the old block out too late ends with blocks that are not there. Usage:
 * realloc_race [REALLOCS [THREADS]]; prints how many reallocs moved.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 64u

static unsigned reallocs = 1000000;

static __attribute__((noinline)) void *block_move(void *block, size_t bytes)
{
	void *moved = realloc(block, bytes);

	if (!moved)
		abort();
	return moved;
}

static void *work(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg, size = 0;
	void *block[BLOCKS] = { NULL };
	uintptr_t moved = 0;

	for (unsigned i = 0; i < reallocs; i++) {
		unsigned slot = (seed = seed * 1664525u + 1013904223u) >> 26;
		uintptr_t before = (uintptr_t)block[slot];

		size = size * 7 % 509 + 1;
		block[slot] = block_move(block[slot], 16 + 16ul * (size + slot) % 1009);
		moved += before && (uintptr_t)block[slot] != before;
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(block[i]);
	return (void *)moved;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	uintptr_t moved = 0;
	pthread_t thread[64];
	void *result;

	if (argc > 1)
		reallocs = (unsigned)atoi(argv[1]);
	if (threads > 64)
		return 2;
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(i + 1));
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], &result);
		moved += (uintptr_t)result;
	}
	printf("%u threads, %u reallocs each, %lu moved\n", threads, reallocs,
		(unsigned long)moved);
	return 0;
}
