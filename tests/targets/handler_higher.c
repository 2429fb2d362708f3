/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A signal handler that allocates on a stack of its own, which lies above the stack that it
 * interrupts. It does so only when it interrupted the recorder: nowhere else would the program's
 * own malloc be safe to call.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define NOINLINE    __attribute__((noinline))
#define STACK_BYTES 65536u
#define HITS	    3000 /* handlers that met the recorder at work */
#define DIVES	    3000000

static char low_stack[STACK_BYTES] __attribute__((aligned(16)));
static ucontext_t main_context, low_context;
static unsigned long recorder_start, recorder_end;
static volatile int hits;
static volatile sig_atomic_t fired = 1; /* so that the timer is set for the first time */

static void recorder_find(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start, end;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "libheaptop") || sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		recorder_start = recorder_start ? recorder_start : start;
		recorder_end = end;
	}
	if (maps)
		fclose(maps);
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	void *volatile p;
#ifdef __aarch64__
	unsigned long pc = u->uc_mcontext.pc;
#else
	unsigned long pc = (unsigned long)u->uc_mcontext.gregs[REG_RIP];
#endif

	(void)number, (void)info;
	fired = 1;
	if (pc - recorder_start >= recorder_end - recorder_start)
		return;
	hits++;
	p = malloc(40);
	free(p);
}

static NOINLINE int dive(unsigned depth)
{
	volatile int down = 0;

	if (depth == 0) {
		void *volatile p = malloc(100);

		free(p);
	} else {
		down = dive(depth - 1);
	}
	return down + 1;
}

/* The timer is set anew only when it has fired, so that the program goes on however long a signal
 * takes. */
static void work(void)
{
	static const struct itimerval soon = { .it_value.tv_usec = 50 };

	for (unsigned i = 0; i < DIVES && hits < HITS; i++) {
		if (fired) {
			fired = 0;
			setitimer(ITIMER_REAL, &soon, NULL);
		}
		dive(i % 30);
	}
}

int main(void)
{
	stack_t high = { .ss_size = STACK_BYTES };
	struct sigaction action = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct itimerval never = { 0 };

	recorder_find();
	high.ss_sp =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&high, NULL);
	sigaction(SIGALRM, &action, NULL);
	getcontext(&low_context);
	low_context.uc_stack.ss_sp = low_stack;
	low_context.uc_stack.ss_size = sizeof(low_stack);
	low_context.uc_link = &main_context;
	makecontext(&low_context, work, 0);
	swapcontext(&main_context, &low_context);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
