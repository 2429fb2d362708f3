/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs into the end of the stack again and again, as interpreters do that turn this into an
 * exception: a handler on an alternate stack leaves by siglongjmp. What overflows is mostly an
 * allocation, so the allocator must stand that: plugin/reentrant.c, preloaded. Threads of small
 * stacks do the same. Usage: overflow_caught TIMES
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include "tests/faults/targets/witness.h"

#define THREADS	    3
#define STACK_BYTES (128u << 10)

static __thread sigjmp_buf back;
static __thread char alternate[16384];
static int times;

static void on_overflow(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static NOINLINE int dive(int depth, int bytes)
{
	volatile char frame[64];

	frame[0] = (char)bytes;
	free(witness_malloc((size_t)bytes));
	if (depth < 0)
		return 0;
	return dive(depth + 1, bytes) + frame[0];
}

/* Of other depths each time, so that the end comes at other places. */
static NOINLINE void dive_from(int offset)
{
	volatile char *room = __builtin_alloca((size_t)offset * 16 + 16);

	room[0] = 0;
	dive(0, offset + 1 + room[0]);
	KEEP_FRAME();
}

static NOINLINE void site_after(void)
{
	for (int i = 0; i < 10; i++)
		free(witness_malloc(60));
	KEEP_FRAME();
}

static void *run(void *arg)
{
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };

	sigaltstack(&stack, NULL);
	for (volatile int i = 0; i < times; i++) {
		if (sigsetjmp(back, 1) == 0)
			dive_from(i % 100);
		site_after();
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_overflow, .sa_flags = SA_ONSTACK };
	pthread_attr_t attr;
	pthread_t t[THREADS];

	times = argc > 1 ? atoi(argv[1]) : 100;
	sigaction(SIGSEGV, &action, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < THREADS; i++)
		witness_need(pthread_create(&t[i], &attr, run, NULL) == 0, "no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	witness_threads(1);
	witness_print("end");
	return 0;
}
