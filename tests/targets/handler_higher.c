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

static void work(void)
{
	for (unsigned i = 0; i < DIVES && hits < HITS; i++)
		dive(i % 30);
}

int main(void)
{
	stack_t high = { .ss_size = STACK_BYTES };
	struct sigaction action = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };

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
	setitimer(ITIMER_REAL, &often, NULL);
	swapcontext(&main_context, &low_context);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
