/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests that are the same on every architecture: 4 * 20,000 pairs of 56 bytes in 4 threads,
 * 1,000 blocks that stay, allocated by a recursion over arrays of variable length, and 50 others.
 * It prints nothing, so nothing else allocates but the C library for its threads.
 */
#include <pthread.h>
#include <stdlib.h>

static void *volatile kept[1000];

static void *pairs(void *arg)
{
	for (int i = 0; i < 20000; i++)
		free(malloc(56));
	return arg;
}

static __attribute__((noinline)) void deep(int depth, int i)
{
	volatile char room[16 + depth];

	room[0] = room[depth] = 1;
	if (depth > 0)
		deep(depth - 1, i);
	else
		kept[i] = malloc((size_t)(62 + i % 2));
}

int main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 1000; i++)
		deep(i % 30, i);
	for (int i = 0; i < 50; i++)
		free(malloc(275));
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, pairs, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
