// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Touches pages: of a block of the heap, of a mapping, and of a thread's block, by that thread. It
 * says "ready" before and "touched" after that, and waits for a line on standard input each time.
 * With an argument it says "idle", and waits for a line, before it allocates anything.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	     4096ul
#define BLOCK_PAGES  1000u
#define MAP_PAGES    500u
#define THREAD_PAGES 300u

static pthread_barrier_t begin, touched;

/* Pages of 4 KB, one fault each. */
static char *small_pages(char *p, unsigned pages)
{
	char *from = (char *)(((unsigned long)p + PAGE) & ~(PAGE - 1));

	madvise(from, (pages - 2) * PAGE, MADV_NOHUGEPAGE);
	return from;
}

/* Each is one that nothing else is on. */
static void touch(char *from, unsigned pages)
{
	for (unsigned i = 1; i <= pages; i++)
		((volatile char *)from)[i * PAGE + 100] = 1;
}

__attribute__((noinline)) char *touched_block(void)
{
	return malloc((BLOCK_PAGES + 8) * PAGE);
}

__attribute__((noinline)) char *touched_map(void)
{
	return mmap(NULL, (MAP_PAGES + 8) * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

__attribute__((noinline)) char *touched_by_thread(void)
{
	return malloc((THREAD_PAGES + 8) * PAGE);
}

static void *thread_run(void *block)
{
	char *p = block = touched_by_thread();

	pthread_barrier_wait(&begin);
	touch(small_pages(p, THREAD_PAGES + 8), THREAD_PAGES);
	pthread_barrier_wait(&touched);
	return block;
}

static int say_and_wait(const char *what)
{
	char line[16];

	puts(what);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

int main(int argc, char **argv __attribute__((unused)))
{
	char *block, *map;
	pthread_t thread;

	if (argc > 1 && !say_and_wait("idle"))
		return 1;
	block = touched_block();
	map = touched_map();
	pthread_barrier_init(&begin, NULL, 2);
	pthread_barrier_init(&touched, NULL, 2);
	pthread_create(&thread, NULL, thread_run, NULL);
	if (!say_and_wait("ready"))
		return 1;
	pthread_barrier_wait(&begin);
	touch(small_pages(block, BLOCK_PAGES + 8), BLOCK_PAGES);
	touch(small_pages(map, MAP_PAGES + 8), MAP_PAGES);
	pthread_barrier_wait(&touched);
	pthread_join(thread, NULL);
	return !say_and_wait("touched");
}
