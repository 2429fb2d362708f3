/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * More exit handlers than libc has room for at first, registered by eight threads at once out of a
 * constructor; each allocates and frees when it runs. Prints how many ran, from the last one.
 */
#include <pthread.h>
#include "tests/faults/targets/witness.h"

#define THREADS	 8
#define HANDLERS 40

static int ran;
static void *held[THREADS * HANDLERS];

static void handler(void)
{
	held[ran] = malloc(64);
	if (ran % 2)
		free(held[ran - 1]);
	ran++;
}

static void last(void)
{
	printf("%d handlers ran\n", ran);
	witness_threads(1);
	witness_print("exit");
}

static void *enter(void *arg)
{
	for (int i = 0; i < HANDLERS; i++)
		witness_need(atexit(handler) == 0, "atexit refuses");
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t t[THREADS];

	atexit(last);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, enter, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	return 4;
}
