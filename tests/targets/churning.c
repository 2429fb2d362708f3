// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Blocks that live for microseconds, so that most of what a reader saw of the table is not so any
 * more when it looks at the memory: threads that free one of their few blocks and allocate another,
 * from the moment that it says "ready" until its input ends.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BLOCKS	2000 /* of a thread: others come to lie where some have been */
#define LARGEST 3000

static atomic_bool ended;
static pthread_barrier_t filled;

static void *churn(void *seed)
{
	char *block[BLOCKS] = { 0 };
	unsigned s = (unsigned)(size_t)seed;

	for (unsigned n = 0; !ended; n++) {
		size_t i, bytes;

		s = s * 1103515245 + 12345;
		i = (s >> 8) % BLOCKS;
		bytes = (s >> 4) % LARGEST + 1;
		free(block[i]);
		block[i] = malloc(bytes);
		memset(block[i], 1, bytes);
		if (n == 10 * BLOCKS)
			pthread_barrier_wait(&filled);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		free(block[i]);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	pthread_barrier_init(&filled, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, churn, (void *)(i + 1)) != 0)
			return 1;
	pthread_barrier_wait(&filled);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	ended = true;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
