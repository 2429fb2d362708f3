/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A random program of N threads (the first argument; the seed is the second) that take and give
 * blocks in shapes of their own, from eight functions, and give each other's. It counts its live
 * bytes itself, and prints the most it had, and its largest block. N = 0: its first thread does.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 16
#define SHARED	    256

struct block {
	uint64_t size;
};

static _Atomic int64_t live, most;
static _Atomic(struct block *) shared[SHARED];
static uint64_t largest, seed;

static void count(int64_t bytes)
{
	int64_t now = atomic_fetch_add(&live, bytes) + bytes, before = atomic_load(&most);

	while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
		;
}

#define TAKE(i)                                                                                    \
	__attribute__((noinline)) static struct block *take_##i(uint64_t size)                     \
	{                                                                                          \
		struct block *b = malloc(size);                                                    \
                                                                                                   \
		b->size = size;                                                                    \
		count((int64_t)size);                                                              \
		return b;                                                                          \
	}
TAKE(0)
TAKE(1)
TAKE(2)
TAKE(3)
TAKE(4)
TAKE(5)
TAKE(6)
TAKE(7)

static struct block *(*const take[])(
	uint64_t) = { take_0, take_1, take_2, take_3, take_4, take_5, take_6, take_7 };

static void give(struct block *b)
{
	if (!b)
		return;
	count(-(int64_t)b->size);
	free(b);
}

static uint64_t next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

static void *run(void *arg)
{
	uint64_t random = seed * 1000 + (uintptr_t)arg, kept = 8 + next(&random) % 500;
	uint64_t sizes = 64 << next(&random) % 9, events = 2000 + next(&random) % 20000;
	uint64_t passed = next(&random) % 4; /* of four blocks, passed to whoever takes them */
	struct block *own[512] = { NULL };

	for (uint64_t n = 0; n < events; n++) {
		uint64_t wave = n * 4 / events % 2 ? kept : kept / 3 + 1; /* up and down */
		struct block *b = take[next(&random) % 8](sizeof(*b) + next(&random) % sizes);
		struct block **at = &own[next(&random) % wave];

		if (next(&random) % 4 < passed)
			b = atomic_exchange(&shared[next(&random) % SHARED], b);
		give(*at);
		*at = b;
	}
	for (uint64_t i = 0; i < 512; i++)
		give(own[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[THREADS_MAX];
	char line[64];
	int len;

	if (n < 0 || n > THREADS_MAX)
		return 1;
	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	largest = (64 << 8) + sizeof(struct block);
	if (n == 0)
		run(NULL);
	for (intptr_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i) != 0)
			_exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	len = snprintf(line, sizeof(line), "%" PRId64 " %" PRIu64 "\n", most, largest);
	_exit(write(1, line, (size_t)len) != len);
}
