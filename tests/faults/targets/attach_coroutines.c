/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coroutines on small stacks of their own, which allocate and sleep there; below each stack lie
 * bytes that nobody may write. The scheduler sleeps on the thread's own stack at times.
 *
 *	attach_coroutines PAGE STACK_BYTES [never]    never: the scheduler does not sleep
 */
#include <ucontext.h>

#include "tests/faults/targets/attach_page.h"

#define COROUTINES 32u
#define GUARD	   16384u
#define MARK	   0xa5

static ucontext_t scheduler, coroutine[COROUTINES];
static unsigned char *area[COROUTINES];
static unsigned current, ended;
static unsigned char has_ended[COROUTINES];

static void yields(void)
{
	swapcontext(&coroutine[current], &scheduler);
}

static void body(void)
{
	struct timespec nap = { .tv_nsec = 200000 };
	unsigned me = current, state = me + 1;

	while (!page_stopped()) {
		page_allocate(&state);
		page_need(me == current, "another coroutine goes on", (long)current);
		if (page_random(&state) % 8 == 0)
			page_need(nanosleep(&nap, NULL) == 0, "nanosleep", errno);
		page_goes_on();
		yields();
	}
	has_ended[me] = 1;
	ended++;
}

static void coroutine_make(unsigned i, size_t bytes)
{
	area[i] = malloc(GUARD + bytes);
	if (!area[i])
		_exit(2);
	memset(area[i], MARK, GUARD);
	getcontext(&coroutine[i]);
	coroutine[i].uc_stack.ss_sp = area[i] + GUARD;
	coroutine[i].uc_stack.ss_size = bytes;
	coroutine[i].uc_link = &scheduler;
	makecontext(&coroutine[i], body, 0);
}

static void guards_check(void)
{
	for (unsigned i = 0; i < COROUTINES; i++) {
		unsigned n = 0;

		while (n < GUARD && area[i][n] == MARK)
			n++;
		page_need(n == GUARD, "below a coroutine's stack, byte", (long)n);
		free(area[i]);
	}
}

int main(int argc, char **argv)
{
	struct timespec nap = { .tv_nsec = 1000000 };

	if (argc < 3)
		return 2;
	page_open(argv[1]);
	for (unsigned i = 0; i < COROUTINES; i++)
		coroutine_make(i, strtoul(argv[2], NULL, 10));
	page_ready();
	while (ended < COROUTINES) {
		for (current = 0; current < COROUTINES; current++)
			if (!has_ended[current])
				swapcontext(&scheduler, &coroutine[current]);
		if (argc < 4)
			nanosleep(&nap, NULL);
	}
	guards_check();
	return page_end();
}
