/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * many_parts PAIRS THREADS: as many pairs of mappings, each with a pointer to a block, and as many
 * threads, each with a block on its stack. Says "ready" on stdout, and ends with stdin.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	    4096
#define STACK_BYTES 65536
#define BLOCK_BYTES 64

static pthread_barrier_t begun;

static void *hold(void *unused)
{
	void *volatile block = malloc(BLOCK_BYTES);

	pthread_barrier_wait(&begun);
	for (;;)
		pause();
	return block ? unused : NULL;
}

/* The halves have different rights, so the kernel cannot merge it with its neighbours. */
static int pair_map(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + PAGE, PAGE, PROT_READ) != 0)
		return -1;
	*(void **)(void *)p = malloc(BLOCK_BYTES);
	return 0;
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 0, threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_attr_t attr;
	pthread_t t;
	char byte;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&begun, NULL, (unsigned)threads + 1);
	for (int i = 0; i < pairs; i++)
		if (pair_map() != 0)
			return 1;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t, &attr, hold, NULL) != 0)
			return 1;
	pthread_barrier_wait(&begun);
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) > 0;
}
