/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A steady allocation loop between two marks that strace can see: after the warm-up the allocator
 * itself asks the kernel for nothing, so any system call between the marks is the tracker's. The
 * marks are getpriority(PRIO_USER, 4242) and (.., 4243). With "state" it prints instead what a
 * tracker must not change: threads, caught signals, open files, masks. Usage: quiet_loop [THREADS |
 * state]
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SLOTS  64u
#define LOOPS  20000u
#define ROUNDS 8 /* the last one is checked */

static pthread_barrier_t barrier;

static __attribute__((noinline)) void *quiet_malloc(size_t n)
{
	return malloc(n);
}

static __attribute__((noinline)) void *quiet_calloc(size_t n)
{
	return calloc(1, n);
}

static __attribute__((noinline)) void *quiet_realloc(void *p, size_t n)
{
	return realloc(p, n);
}

/* At most SLOTS blocks of 16 to 1000 bytes: after one round all come from the thread's cache. */
static void loop(unsigned rounds)
{
	void *slot[SLOTS] = { NULL };

	for (unsigned i = 0; i < rounds; i++) {
		void **s = &slot[i * 7 % SLOTS];
		size_t n = 16 + i * 37 % 984;

		if (i % 3 == 0 && *s) {
			*s = quiet_realloc(*s, n);
			continue;
		}
		free(*s);
		*s = i % 2 ? quiet_malloc(n) : quiet_calloc(n);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		free(slot[i]);
}

/* All rounds pass through the same call, so that the last meets no new call stack. */
static void *work(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		loop(LOOPS);
		pthread_barrier_wait(&barrier);
		if (arg && round >= ROUNDS - 2)
			getpriority(PRIO_USER, (id_t)(4244 - ROUNDS + round));
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static int count(const char *directory)
{
	DIR *d = opendir(directory);
	int entries = 0;

	while (d && readdir(d))
		entries++;
	closedir(d);
	return entries;
}

static void state_show(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Sig", 3) || !strncmp(line, "Shd", 3) ||
			!strncmp(line, "Threads", 7))
			if (strncmp(line, "SigQ", 4) != 0)
				fputs(line, stdout);
	if (f)
		fclose(f);
	printf("threads %d\nfiles %d\n", count("/proc/self/task"), count("/proc/self/fd"));
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t thread[64];

	if (argc > 1 && !strcmp(argv[1], "state")) {
		loop(LOOPS);
		state_show();
		return 0;
	}
	if (threads < 1 || threads > 64)
		return 2;
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	work(&threads);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
