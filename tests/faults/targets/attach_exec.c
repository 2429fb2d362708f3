/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executes a command when a row says so: phase 1, in a child that it forks; phase 2, in one that it
 * spawns; phase 3, in its own place. The command gets the rest of the arguments.
 *
 *	attach_exec PAGE COMMAND ARG...
 */
#include <spawn.h>
#include <sys/wait.h>

#include "tests/faults/targets/attach_page.h"

extern char **environ;

static void by_fork(char **command)
{
	pid_t pid = fork();

	if (pid == 0) {
		execv(command[0], command);
		_exit(127);
	}
	page_need(pid > 0, "fork", errno);
}

static void by_spawn(char **command)
{
	pid_t pid = -1;
	int r = posix_spawn(&pid, command[0], NULL, NULL, command, environ);

	page_need(r == 0, "posix_spawn", r);
}

static void child_end(void)
{
	int status = -1;

	page_need(wait(&status) > 0, "wait", errno);
	page_need(status == 0, "the command's status", status);
	atomic_fetch_add(&page->children, 1);
}

static void phase_await(uint64_t phase)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	unsigned state = 1;

	while (page->phase < phase && !page_stopped()) {
		nanosleep(&nap, NULL);
		page_allocate(&state);
		page_goes_on();
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	page_open(argv[1]);
	page_ready();
	for (unsigned phase = 1; phase <= 3; phase++) {
		phase_await(phase);
		if (page_stopped())
			return page_end();
		if (phase == 1)
			by_fork(argv + 2);
		else if (phase == 2)
			by_spawn(argv + 2);
		else
			execv(argv[2], argv + 2);
		child_end();
	}
	return page_end();
}
