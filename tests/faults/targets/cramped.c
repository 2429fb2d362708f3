/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that allocate by as many call stacks as they can: each node of a binary tree of calls is
 * one. Says how many blocks there were, and how many allocations failed.
 *
 *	cramped [-l MEGABYTES] [-t THREADS] DEPTH
 *
 *	-l	first has a heap of 64 MB, frees it, keeps its memory, and then limits its address
 *		space to what it has and so much more
 *	-t	so many threads, each with a tree of its own
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

enum { HEAP_BLOCKS = 65536, HEAP_BYTES = 1000, THREADS_MAX = 16 };

static unsigned depth = 10;
static uint64_t blocks, failed;

static void *memory_of(size_t bytes)
{
	void *p = malloc(bytes);

	__atomic_add_fetch(p ? &blocks : &failed, 1, __ATOMIC_RELAXED);
	KEEP_FRAME();
	return p;
}

/* Both calls are calls: their return addresses tell the stacks apart. */
static __attribute__((noinline)) void tree(unsigned level, unsigned char mark)
{
	unsigned char *p = memory_of(24);

	if (p)
		memset(p, mark, 24);
	if (level > 0) {
		tree(level - 1, (unsigned char)(mark + 1));
		KEEP_FRAME();
		tree(level - 1, (unsigned char)(mark + 2));
		KEEP_FRAME();
	}
	if (p && (p[0] != mark || p[23] != mark))
		_exit(98);
	free(p);
	KEEP_FRAME();
}

static void *work(void *none)
{
	tree(depth, 0);
	return none;
}

/* The program keeps what it has been given. */
static void heap_make(void)
{
	static void *block[HEAP_BLOCKS];

	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (int i = 0; i < HEAP_BLOCKS; i++)
		block[i] = malloc(HEAP_BYTES);
	for (int i = 0; i < HEAP_BLOCKS; i++)
		free(block[i]);
}

static uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%llu", &pages) != 1)
		_exit(97);
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(uint64_t more)
{
	struct rlimit l = { 0, 0 };

	heap_make();
	l.rlim_cur = l.rlim_max = address_space() + more;
	if (setrlimit(RLIMIT_AS, &l) != 0)
		_exit(96);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	unsigned threads = 0;
	int c;

	while ((c = getopt(argc, argv, "l:t:")) != -1)
		if (c == 'l')
			limit(strtoull(optarg, NULL, 10) << 20);
		else if (c == 't')
			threads = (unsigned)strtoul(optarg, NULL, 10);
		else
			_exit(94);
	if (optind < argc)
		depth = (unsigned)strtoul(argv[optind], NULL, 10);
	if (threads == 0)
		work(NULL);
	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++)
		if (pthread_create(&thread[i], NULL, work, NULL) != 0)
			_exit(95);
	for (unsigned i = 0; i < threads && i < THREADS_MAX; i++)
		pthread_join(thread[i], NULL);
	printf("%llu blocks, %llu failed\n", (unsigned long long)blocks,
		(unsigned long long)failed);
	return 5;
}
