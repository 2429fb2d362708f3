/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Five threads that live on, each with an arena of its own: the third has most blocks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t filled;

static void *fill(void *arg)
{
	const size_t *blocks = arg;

	for (size_t i = 0; i < *blocks; i++) {
		char *volatile p = malloc(1000);

		memset(p, 1, 1000);
	}
	pthread_barrier_wait(&filled);
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	static size_t blocks[] = { 100, 100, 9000, 100, 100 };
	pthread_t thread;

	pthread_barrier_init(&filled, NULL, 2);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		pthread_create(&thread, NULL, fill, &blocks[i]);
		pthread_barrier_wait(&filled);
	}
	puts("ready");
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
