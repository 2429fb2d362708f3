/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that pass blocks to and fro: each frees what another allocated, and gets the address
 * again. Now and then all are quiet, and the main thread allocates a block of a size by which that
 * moment is found in a recording: MARK + its number.
 *
 *   event_threads ROUNDS STEPS [wait]    wait: says "half" after half the rounds, and reads a byte
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS	 4
#define SLOTS	 64
#define MARK	 1000000u
#define PAUSE_US 5000 /* more than the resolution of a recording's times */

static void *slot[SLOTS];
static pthread_barrier_t barrier;
static unsigned rounds, steps;

__attribute__((noinline)) static void *small_block(uint64_t random)
{
	return malloc(16 + random % 100);
}

__attribute__((noinline)) static void *large_block(uint64_t random)
{
	return calloc(1, 200 + random % 3000);
}

/* Blocks of equal size, so that the allocator returns the same address at once. */
__attribute__((noinline)) static void *equal_block(void)
{
	return malloc(24);
}

static void step(uint64_t *seed)
{
	void **at, *mine, *old;

	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	at = &slot[*seed >> 33 & (SLOTS - 1)];
	mine = *seed >> 40 & 3	 ? equal_block()
	       : *seed >> 42 & 1 ? small_block(*seed >> 45)
				 : large_block(*seed >> 45);
	if (*seed >> 50 & 1)
		mine = realloc(mine, 24 + (*seed >> 52 & 31));
	old = __atomic_exchange_n(at, mine, __ATOMIC_ACQ_REL);
	free(old);
}

static void *run(void *number)
{
	uint64_t seed = (uintptr_t)number;

	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < steps; i++)
			step(&seed);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void half(void)
{
	char byte;

	if (write(1, "half\n", 5) != 5 || read(0, &byte, 1) != 1)
		_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	steps = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)(i + 1));
	for (unsigned r = 0; r < rounds; r++) {
		pthread_barrier_wait(&barrier);
		if (argc > 3 && strcmp(argv[3], "wait") == 0 && r == rounds / 2)
			half();
		usleep(PAUSE_US);
		/* The library reads the clock once in up to 32 events. */
		for (int i = 0; i < 64; i++)
			free(malloc(1));
		free(malloc(MARK + r));
		pthread_barrier_wait(&barrier);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	puts("done");
	return 0;
}
