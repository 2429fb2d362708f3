/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Eight threads, and main among them, ask for the bounds of their stacks again and again, for which
 * libc takes the thread's lock and allocates, and allocate in between. Usage: attributes ROUNDS
 */
#include <pthread.h>
#include "tests/faults/targets/witness.h"

#define THREADS 7

static int rounds;

static void *ask(void *arg)
{
	pthread_attr_t attr;
	size_t bytes;
	void *base;

	for (int i = 0; i < rounds; i++) {
		witness_need(pthread_getattr_np(pthread_self(), &attr) == 0, "no attributes");
		pthread_attr_getstack(&attr, &base, &bytes);
		witness_need((char *)&attr - (char *)base >= 0 &&
				     (size_t)((char *)&attr - (char *)base) < bytes,
			"not on its stack");
		pthread_attr_destroy(&attr);
		free(malloc((size_t)i % 500 + 1));
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, ask, NULL);
	ask(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	witness_threads(1);
	witness_print("end");
	return 0;
}
