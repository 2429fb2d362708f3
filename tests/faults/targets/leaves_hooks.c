/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A timer's handler leaves by siglongjmp and longjmp wherever the thread is, often in the middle of
 * an allocation. Only an allocator that stands this may be behind it: plugin/reentrant.c,
 * preloaded. Says at the end of each hundred jumps whether a thousand allocations went through, in
 * a function that only they come from. Usage: leaves_hooks JUMPS
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include "tests/faults/targets/witness.h"

static sigjmp_buf back;
static volatile sig_atomic_t jumps, ready;

static void on_alarm(int number)
{
	(void)number;
	if (!ready)
		return;
	ready = 0;
	jumps++;
	siglongjmp(back, 1);
}

static NOINLINE void dive(int depth)
{
	if (depth > 0)
		dive(depth - 1);
	else
		free(malloc(50));
	KEEP_FRAME();
}

static NOINLINE void site_after(void)
{
	for (int i = 0; i < 1000; i++)
		free(malloc(60));
	KEEP_FRAME();
}

/* Once: on a busy machine a handler would not get to its first instruction before the next alarm
 * nests another one in it, until the stack overflows. */
static void alarm_in(int microseconds)
{
	struct itimerval once = { .it_value = { 0, microseconds } };

	setitimer(ITIMER_REAL, &once, NULL);
}

int main(int argc, char **argv)
{
	long wanted = argc > 1 ? atol(argv[1]) : 1000;
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_NODEFER };
	volatile unsigned after = 0;

	sigaction(SIGALRM, &action, NULL);
	while (jumps < wanted) {
		if (sigsetjmp(back, jumps % 2) == 0) { /* every other one is a longjmp */
			ready = 1;
			alarm_in(20 + (int)(jumps % 50));
			for (unsigned i = 0;; i++)
				dive((int)(i % 50));
		}
		if (jumps % 100 == 0) {
			site_after();
			after++;
		}
	}
	printf("%u\n", after);
	witness_print("end");
	return 0;
}
