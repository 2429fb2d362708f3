/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with many blocks, of which threads free and make some all the time, here and there, and
 * which it has a pointer to each but 100 that it has lost. Says "ready"; ends at the end of its
 * input.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3u
#define PAIRS	30000u /* pairs of each thread */
#define PAUSES	4u /* changes to a pause */
#define LOST	100u

static void *pair[THREADS][PAIRS];
static volatile int ending;

static uint32_t any(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

static __attribute__((noinline)) void *block_make(uint64_t *state)
{
	void **p = malloc(8 + (any(state, 16) ? any(state, 200) : any(state, 3000)));

	if (!p)
		abort();
	*p = NULL;
	return p;
}

/* Two: the second is known by the first alone. */
static void *pair_make(uint64_t *state)
{
	void **p = block_make(state);

	*p = block_make(state);
	return p;
}

static void pair_free(void **p)
{
	free(*p);
	free(p);
}

static __attribute__((noinline)) void lose(void)
{
	uint64_t state = 7;
	volatile uintptr_t lost = 0;

	for (unsigned i = 0; i < LOST; i++)
		lost ^= (uintptr_t)block_make(&state); /* kept nowhere as it is */
	(void)lost;
}

/* A pointer is never in no place: the new block is there before the old one is gone. */
static void *work(void *mine)
{
	void **my = mine;
	uint64_t state = (uintptr_t)mine;

	while (!ending) {
		const struct timespec pause = { .tv_nsec = 20000 };
		uint32_t i = any(&state, PAIRS);
		void *old = my[i];

		my[i] = pair_make(&state);
		pair_free(old);
		/* So that most of what is there has not changed between one moment and another. */
		if (any(&state, PAUSES) == 0)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	uint64_t state = 1;
	char c;

	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < PAIRS; i++)
			pair[t][i] = pair_make(&state);
	lose();
	for (unsigned t = 0; t < THREADS; t++)
		if (pthread_create(&thread[t], NULL, work, pair[t]) != 0)
			return 2;
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 2;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	ending = 1;
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	return 0;
}
