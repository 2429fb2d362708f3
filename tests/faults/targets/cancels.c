/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads are cancelled in the middle of an allocation loop. "deferred": the loop has no
 * cancellation point, so each thread must come to its end, which alone is one. "async": they are to
 * end anywhere, which only plugin/reentrant.c, preloaded, stands. Prints how many came to the end.
 * Usage: cancels deferred|async THREADS
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "tests/faults/targets/witness.h"

#define TOGETHER 4

static atomic_int running, told;
static atomic_long ended;
static int is_async;

static NOINLINE void site_loop(int i)
{
	void *p = malloc((size_t)i % 300 + 1);

	p = realloc(p, (size_t)i % 500 + 1);
	free(p);
	KEEP_FRAME();
}

static void *loop(void *arg)
{
	if (is_async)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	running++;
	for (int i = 0; is_async || !told || i < 1000; i++)
		site_loop(i);
	ended++;
	pthread_testcancel();
	return arg;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[2]) : 100;
	pthread_t t[TOGETHER];
	void *result;

	is_async = argc > 1 && !strcmp(argv[1], "async");
	for (long i = 0; i < threads; i += TOGETHER) {
		running = told = 0;
		for (int j = 0; j < TOGETHER; j++)
			witness_need(pthread_create(&t[j], NULL, loop, NULL) == 0, "no thread");
		while (running < TOGETHER)
			sched_yield();
		for (int j = 0; j < TOGETHER; j++)
			pthread_cancel(t[j]);
		told = 1;
		for (int j = 0; j < TOGETHER; j++) {
			pthread_join(t[j], &result);
			witness_need(result == PTHREAD_CANCELED, "not cancelled");
		}
	}
	printf("%ld came to the end\n", ended);
	witness_threads(1);
	witness_print("end");
	return 0;
}
