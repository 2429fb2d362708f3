/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 128 threads allocate at changing depths while signals arrive all the time; the handler allocates
 * nothing. SIGPIPE has its default action, so that a byte into a pipe without a reader would end
 * the program. Usage: interrupted_walks ROUNDS
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include "tests/faults/targets/witness.h"

#define THREADS 128

static int rounds;
static atomic_uint arrived;
static pthread_barrier_t sent; /* all signals are, and all threads still there */

static void on_signal(int number)
{
	(void)number;
	arrived++;
}

static NOINLINE int dive(int depth)
{
	volatile int down = 0;

	if (depth > 0)
		down = dive(depth - 1);
	else
		free(malloc(64));
	return down + 1;
}

static void *walk(void *arg)
{
	for (int i = 0; i < rounds; i++)
		dive((i * 7 + (int)(uintptr_t)arg) % 60);
	pthread_barrier_wait(&sent);
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t t[THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	pthread_barrier_init(&sent, NULL, THREADS + 1);
	setitimer(ITIMER_PROF, &often, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		witness_need(pthread_create(&t[i], NULL, walk, (void *)i) == 0, "no thread");
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < THREADS; i++)
			pthread_kill(t[i], SIGUSR1);
	pthread_barrier_wait(&sent);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	witness_need(arrived > 0, "no signal arrived");
	witness_threads(1);
	witness_print("end");
	return 0;
}
