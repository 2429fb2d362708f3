/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only a process without a thread of somebody else's can do: take its signals by sigwait,
 * enter a user namespace of its own, and find that all its threads are those it made.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include "tests/faults/targets/witness.h"

static void *wait_for_signal(void *arg)
{
	int *taken = arg;
	sigset_t all;

	sigfillset(&all);
	free(malloc(100));
	witness_need(sigwait(&all, taken) == 0, "sigwait failed");
	return arg;
}

int main(void)
{
	void *volatile p = malloc(100000);
	int taken = 0;
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	witness_need(unshare(CLONE_NEWUSER) == 0, "not alone: unshare failed");
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 100; i++) {
		pthread_create(&thread, NULL, wait_for_signal, &taken);
		kill(getpid(), SIGTERM); /* ends the process if any thread does not block it */
		pthread_join(thread, NULL);
		witness_need(taken == SIGTERM, "another signal");
		free(p);
		p = malloc(100 + (size_t)i);
	}
	witness_threads(1);
	witness_print("at the end");
	free(p);
	return 0;
}
