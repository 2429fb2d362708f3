/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one malloc/free pair costs, in one number: nanoseconds per pair (per allocation for "grow"),
 * printed on stdout. tests/bench/bench.py runs it plain and under each tracker. The loop is timed
 * from inside, after a warm-up, so that start-up costs nobody anything. Usage: micro pairs DEPTH |
 * churn | grow | threads N
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM	     20000u
#define BLOCK_BYTES  100u
#define CHURN_BLOCKS 100000u
#define CHURN_PAIRS  600000u
#define CHURN_STACKS 200u
#define GROW_BLOCKS  400000u
#define THREAD_DEPTH 15
#define THREADS_MAX  64u

typedef double bench_function(void *arg);

static unsigned pairs_wanted = 1000000;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Calls `bench` under so many frames of its own. */
static __attribute__((noinline)) double under(int depth, bench_function *bench, void *arg)
{
	double result = depth > 1 ? under(depth - 1, bench, arg) : bench(arg);

	__asm__ volatile("" ::: "memory");
	return result;
}

static void pairs_run(unsigned pairs)
{
	for (unsigned i = 0; i < pairs; i++) {
		void *volatile block = malloc(BLOCK_BYTES);

		free(block);
	}
}

static double pairs(void *arg)
{
	double start;

	(void)arg;
	pairs_run(WARM);
	start = now_ns();
	pairs_run(pairs_wanted);
	return (now_ns() - start) / pairs_wanted;
}

/* Ten functions that differ only in their address; the digits of a number choose the way. */
#define WAY(n)                                                                                     \
	static __attribute__((noinline)) void *way_##n(unsigned turns, unsigned bytes)             \
	{                                                                                          \
		void *block = turns ? turn(turns, bytes) : malloc(bytes);                          \
		__asm__ volatile("" ::"r"(n) : "memory");                                          \
		return block;                                                                      \
	}
static void *turn(unsigned turns, unsigned bytes);
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)
WAY(8)
WAY(9)

/* A leading 1 ends the number: 1000 to 1199 are 200 stacks of the same length. */
static void *turn(unsigned turns, unsigned bytes)
{
	static void *(*const way[])(unsigned, unsigned) = { way_0, way_1, way_2, way_3, way_4,
		way_5, way_6, way_7, way_8, way_9 };
	void *block = way[turns % 10](turns / 10 > 1 ? turns / 10 : 0, bytes);

	__asm__ volatile("" ::: "memory");
	return block;
}

static double churn(void *arg)
{
	void **block = calloc(CHURN_BLOCKS, sizeof(*block));
	uint64_t seed = 1;
	double start = 0;

	(void)arg;
	for (unsigned i = 0; i < CHURN_BLOCKS; i++)
		block[i] = turn(1000 + i % CHURN_STACKS, 16 + i % 200);
	for (unsigned i = 0; i < WARM + CHURN_PAIRS; i++) {
		unsigned slot;

		if (i == WARM)
			start = now_ns();
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		slot = (unsigned)(seed >> 33) % CHURN_BLOCKS;
		free(block[slot]);
		block[slot] = turn(1000 + (unsigned)(seed >> 20) % CHURN_STACKS, 16 + slot % 200);
	}
	return (now_ns() - start) / CHURN_PAIRS;
}

static double grow(void *arg)
{
	double start;

	(void)arg;
	pairs_run(WARM);
	start = now_ns();
	for (unsigned i = 0; i < GROW_BLOCKS; i++) {
		void *volatile block = malloc(BLOCK_BYTES);

		(void)block;
	}
	return (now_ns() - start) / GROW_BLOCKS;
}

static pthread_barrier_t together;

struct span {
	double start, end;
};

static double one_of_many(void *arg)
{
	struct span *span = arg;

	pairs_run(WARM);
	pthread_barrier_wait(&together);
	span->start = now_ns();
	pairs_run(pairs_wanted);
	span->end = now_ns();
	return 0;
}

static void *thread_main(void *arg)
{
	under(THREAD_DEPTH, one_of_many, arg);
	return NULL;
}

/* Wall time of all threads together by the pairs of all: halves when two do not hinder each other.
 */
static double threads_run(unsigned threads)
{
	struct span span[THREADS_MAX], all = { 1e300, 0 };
	pthread_t thread[THREADS_MAX];

	pthread_barrier_init(&together, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, thread_main, &span[i]);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		all.start = span[i].start < all.start ? span[i].start : all.start;
		all.end = span[i].end > all.end ? span[i].end : all.end;
	}
	return (all.end - all.start) / (double)threads / pairs_wanted;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pairs";
	int number = argc > 2 ? atoi(argv[2]) : 1;
	double ns;

	if (argc > 3)
		pairs_wanted = (unsigned)atoi(argv[3]);
	if (!strcmp(what, "pairs"))
		ns = under(number, pairs, NULL);
	else if (!strcmp(what, "churn"))
		ns = under(5, churn, NULL);
	else if (!strcmp(what, "grow"))
		ns = under(15, grow, NULL);
	else if (!strcmp(what, "threads") && number > 0 && (unsigned)number <= THREADS_MAX)
		ns = threads_run((unsigned)number);
	else
		return 2;
	printf("%.2f\n", ns);
	return 0;
}
