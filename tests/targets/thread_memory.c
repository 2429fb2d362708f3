/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What threads take and leave: prints the kilobytes of private memory that each of 50 threads alive
 * together takes, and those that 400 threads, one after another, leave behind. Each allocates from
 * a few call sites and again in the last round of its thread-specific data destructors.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOGETHER 50
#define IN_TURN	 400

static pthread_barrier_t all;
static pthread_key_t key;

static long private_kb(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kb = 0, value;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Dirty: %ld", &value) == 1)
			kb += value;
	if (f)
		fclose(f);
	return kb;
}

static void late(void *value)
{
	static __thread int rounds;

	free(malloc(100));
	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(key, value);
}

static __attribute__((noinline)) void work(int depth)
{
	free(malloc(64));
	if (depth > 0)
		work(depth - 1);
	__asm__ volatile("" ::: "memory");
}

static void *run(void *arg)
{
	pthread_setspecific(key, &all);
	for (int i = 0; i < 50; i++)
		work(10);
	if (arg) {
		pthread_barrier_wait(&all);
		pthread_barrier_wait(&all);
	}
	return NULL;
}

static long together(void)
{
	pthread_t t[TOGETHER];
	long before = private_kb(), during;

	pthread_barrier_init(&all, NULL, TOGETHER + 1);
	for (int i = 0; i < TOGETHER; i++)
		pthread_create(&t[i], NULL, run, &all);
	pthread_barrier_wait(&all);
	during = private_kb();
	pthread_barrier_wait(&all);
	for (int i = 0; i < TOGETHER; i++)
		pthread_join(t[i], NULL);
	return (during - before) / TOGETHER;
}

int main(void)
{
	pthread_t t;
	long before;

	pthread_key_create(&key, late);
	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
	printf("each %ld\n", together());
	before = private_kb();
	for (int i = 0; i < IN_TURN; i++) {
		pthread_create(&t, NULL, run, NULL);
		pthread_join(t, NULL);
	}
	printf("left %ld\n", private_kb() - before);
	return 0;
}
