/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program: a signal handler that forks while its thread is inside a hook (or, where there is
 * none, in the program itself). The child returns from the handler into what was interrupted, and
 * goes on to allocate. Interrupted elsewhere, in the allocator, neither may fork: its own state is
 * half done. Usage: fork_in_handler [FORKS]
 */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include "tests/targets/truth.h"

#define HANGS_SECONDS 60u

extern char __executable_start, etext;

static unsigned long inside_start, inside_end; /* code that may be interrupted by a fork */
static volatile sig_atomic_t forks, bad, is_child;
static volatile sig_atomic_t armed; /* once in a round, so that no place is met twice in a row */
static int wanted = 200;

static void recorder_find(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long start, end;

	inside_start = (unsigned long)&__executable_start;
	inside_end = (unsigned long)&etext;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "libheaptop.so") || !strstr(line, "r-xp"))
			continue;
		if (sscanf(line, "%lx-%lx", &start, &end) == 2) {
			inside_start = start;
			inside_end = end;
		}
	}
	if (maps)
		fclose(maps);
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
#ifdef __aarch64__
	unsigned long pc = u->uc_mcontext.pc;
#else
	unsigned long pc = (unsigned long)u->uc_mcontext.gregs[REG_RIP];
#endif
	int status;
	pid_t pid;

	(void)number, (void)info;
	if (is_child || !armed || forks >= wanted || pc - inside_start >= inside_end - inside_start)
		return;
	armed = 0;
	pid = forks % 2 ? fork() : _Fork();
	if (pid == 0) {
		is_child = 1;
		signal(SIGALRM, SIG_DFL); /* a child has no timers */
		alarm(HANGS_SECONDS);
		return;
	}
	forks++;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		bad++;
}

enum { BLOCK, GROWN };

static NOINLINE void *site_block(size_t n)
{
	return truth_got(BLOCK, malloc(n), n);
}

static NOINLINE void *site_grown(void *p, size_t n)
{
	truth_gone(BLOCK, 100);
	truth_add(&truth_reallocs, 1);
	return truth_got(GROWN, realloc(p, n), n);
}

static NOINLINE int dive(unsigned depth)
{
	volatile int down = 0;

	if (depth == 0) {
		char *p = site_grown(site_block(100), 300);

		p[299] = 1;
		truth_gone(GROWN, 300);
		free(p);
	} else {
		down = dive(depth - 1);
	}
	return down + 1;
}

static _Noreturn void child_end(void)
{
	for (unsigned i = 0; i < 1000; i++)
		dive(i % 30);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };

	if (argc > 1)
		wanted = atoi(argv[1]);
	truth_name(BLOCK, "site_block", "malloc");
	truth_name(GROWN, "site_grown", "realloc");
	recorder_find();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; forks < wanted; i++) {
		armed = i % 4 == 0;
		dive(i % 30);
		if (is_child)
			child_end();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	dprintf(1, "%d forks, %d children ended badly\n", (int)forks, (int)bad);
	return bad != 0;
}
