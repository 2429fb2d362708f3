/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that do nothing but grow blocks by realloc until they have moved often enough, so that an
 * address given up by one thread is at once another's. Everything is freed before the end: a
 * tracker that takes the old block out too late ends with blocks that are not there. Usage:
 * realloc_race [MOVES-PER-THREAD [THREADS]]; prints how many reallocs of live blocks there were,
 * and how many moved.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 64u

struct tally {
	unsigned long reallocs, moved;
};

static unsigned moves_wanted = 1000000;

static __attribute__((noinline)) void *block_move(void *block, size_t bytes)
{
	void *moved = realloc(block, bytes);

	if (!moved)
		abort();
	return moved;
}

/* One step of a block's life: born small, grown by a half each time, given up when large. */
static void *block_step(void *block, size_t *bytes, struct tally *tally)
{
	uintptr_t before = (uintptr_t)block;

	if (*bytes > 1000) {
		free(block);
		before = 0;
		*bytes = 0;
	}
	*bytes = *bytes + *bytes / 2 + 24;
	block = block_move((void *)before, *bytes);
	tally->reallocs += before != 0;
	tally->moved += before && (uintptr_t)block != before;
	return block;
}

static void *work(void *arg)
{
	struct tally *tally = arg;
	unsigned seed = (unsigned)(uintptr_t)arg;
	void *block[BLOCKS] = { NULL };
	size_t bytes[BLOCKS] = { 0 };

	while (tally->moved < moves_wanted) {
		unsigned slot = (seed = seed * 1664525u + 1013904223u) >> 26;

		block[slot] = block_step(block[slot], &bytes[slot], tally);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(block[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	struct tally tally[64] = { { 0 } }, all = { 0 };
	pthread_t thread[64];

	if (argc > 1)
		moves_wanted = (unsigned)atoi(argv[1]);
	if (threads > 64)
		return 2;
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, &tally[i]);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		all.reallocs += tally[i].reallocs;
		all.moved += tally[i].moved;
	}
	printf("%lu reallocs, %lu moved\n", all.reallocs, all.moved);
	return 0;
}
