/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that swap their blocks for each other's: most blocks are freed, or moved by realloc, by
 * another thread than the one that allocated them. At the end every block has been freed. Usage:
 * swap_blocks THREADS ROUNDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define SLOTS	    4096u
#define THREADS_MAX 64u
#define NOINLINE    __attribute__((noinline))
#define KEEP()	    __asm__ volatile("" ::: "memory")

static void *slot[SLOTS];
static unsigned rounds;

static NOINLINE void *site_swapped(size_t n)
{
	void *p = malloc(n);

	KEEP();
	return p;
}

static NOINLINE void *site_moved(void *p, size_t n)
{
	void *q = realloc(p, n);

	KEEP();
	return q;
}

static void *swap(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		void *p;

		seed = seed * 1664525u + 1013904223u;
		p = site_swapped(16 + (seed >> 8) % 1000);
		p = __atomic_exchange_n(&slot[seed >> 20], p, __ATOMIC_ACQ_REL);
		if (p && i % 16 == 0)
			p = site_moved(p, 2000 + (seed >> 8) % 5000);
		free(p);
		free(NULL); /* no block, whatever is being recorded */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t thread[THREADS_MAX];

	if (threads == 0 || threads > THREADS_MAX)
		return 2;
	rounds = (unsigned)atoi(argv[2]);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, swap, (void *)(uintptr_t)(i + 1)) != 0)
			return 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < SLOTS; i++)
		free(slot[i]);
	return 0;
}
