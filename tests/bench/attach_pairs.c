/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a pair of malloc and free costs while others attach and detach: one thread makes pairs at
 * the end of a deep stack, batch after batch, and puts the processor time of each into the page;
 * another waits.
 *
 *	attach_pairs PAGE DEPTH
 *
 * In the page: progress is the number of batches, held_bytes a pair's picoseconds in the last one.
 */
#include <poll.h>
#include <pthread.h>

#include "tests/faults/targets/attach_page.h"

#define PAIRS 300000u

static void *waits(void *arg)
{
	while (!page_stopped())
		poll(NULL, 0, 50);
	return arg;
}

static NOINLINE void pairs(void)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		void *p = malloc(64);

		__asm__ volatile("" : "+r"(p) : : "memory");
		free(p);
	}
}

static NOINLINE void deeper(unsigned depth)
{
	if (depth)
		deeper(depth - 1);
	else
		pairs();
	__asm__ volatile("" : : : "memory"); /* no tail call */
}

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	pthread_create(&thread, NULL, waits, NULL);
	page_ready();
	while (!page_stopped()) {
		uint64_t before = used_ns();

		deeper((unsigned)strtoul(argv[2], NULL, 10));
		page->held_bytes = (used_ns() - before) * 1000 / PAIRS;
		page_goes_on();
	}
	pthread_join(thread, NULL);
	return page_end();
}
