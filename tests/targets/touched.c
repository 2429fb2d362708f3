// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Touches pages: of a block of the heap, of a mapping, and of a thread's block, by that thread. It
 * says "ready" before that and waits for a line on standard input; after it, it does so again, and
 * says "touched" and how many faults the kernel has counted in each of the three meanwhile: it may
 * take more than one for a page (-1: it does not let this program count).
 * With an argument it says "idle", and waits for a line, before it allocates anything.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Opens a count of this thread's, from now on. */
static int faults_count(void)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Each is one that nothing else is on. Returns the faults. */
static long touch(char *from, unsigned pages)
{
	int fd = faults_count();
	long faults = 0;

	for (unsigned i = 1; i <= pages; i++)
		((volatile char *)from)[i * PAGE + 100] = 1;
	if (fd < 0 || read(fd, &faults, sizeof(faults)) != sizeof(faults))
		faults = -1;
	if (fd >= 0)
		close(fd);
	return faults;
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

static long by_thread;

static void *thread_run(void *block)
{
	char *p = block = touched_by_thread();

	pthread_barrier_wait(&begin);
	by_thread = touch(small_pages(p, THREAD_PAGES + 8), THREAD_PAGES);
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
	long of_block, of_map;
	char said[96];
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
	of_block = touch(small_pages(block, BLOCK_PAGES + 8), BLOCK_PAGES);
	of_map = touch(small_pages(map, MAP_PAGES + 8), MAP_PAGES);
	pthread_barrier_wait(&touched);
	pthread_join(thread, NULL);
	snprintf(said, sizeof(said), "touched %ld %ld %ld", of_block, of_map, by_thread);
	return !say_and_wait(said);
}
