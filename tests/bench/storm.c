/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What many short processes cost. Prints for each of N, one after another: wall, user and system
 * microseconds, and minor faults, of the children and of this process, which started them.
 *
 * Usage: storm fork N BLOCKS                 children of fork that allocate
 *        storm exec N [NAME=VALUE...] -- COMMAND [ARG...]
 *        storm work BLOCKS                   a command for that; allocates
 *
 * The variables are set for the command only. The blocks have different call stacks, up to 4096.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEVELS 6

static void *volatile kept;

/* One block; two bits of `path` per level choose the call site. The assignments after the calls
 * keep them from being tail calls. */
static __attribute__((noinline)) void descend(unsigned path, unsigned level)
{
	if (level == 0) {
		kept = malloc(32);
		return;
	}
	switch (path & 3) {
	case 0:
		descend(path >> 2, level - 1);
		kept = NULL;
		break;
	case 1:
		descend(path >> 2, level - 1);
		kept = stderr;
		break;
	case 2:
		descend(path >> 2, level - 1);
		kept = stdin;
		break;
	default:
		descend(path >> 2, level - 1);
		kept = stdout;
		break;
	}
}

static void work(unsigned blocks)
{
	for (unsigned i = 0; i < blocks; i++)
		descend(i, LEVELS);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us(const struct timeval *t)
{
	return (double)t->tv_sec * 1e6 + (double)t->tv_usec;
}

struct used {
	double wall, user, system, faults;
};

static struct used used_now(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (struct used){ now_us(), us(&own.ru_utime) + us(&children.ru_utime),
		us(&own.ru_stime) + us(&children.ru_stime),
		(double)own.ru_minflt + (double)children.ru_minflt };
}

/* Waits for a child. False: it failed. */
static int ended_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int fork_one(char **argument)
{
	unsigned blocks = (unsigned)atoi(*argument);
	pid_t pid = fork();

	if (pid == 0) {
		work(blocks);
		_exit(0);
	}
	return ended_well(pid);
}

/* The variables are already set. */
static int exec_one(char **command)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	return ended_well(pid);
}

/* Sets the variables; returns the command. */
static char **variables_set(char **argument)
{
	for (; *argument && strcmp(*argument, "--") != 0; argument++)
		putenv(*argument);
	return *argument ? argument + 1 : argument;
}

static int storm(int (*one)(char **), unsigned n, char **argument)
{
	struct used before = used_now(), after;

	for (unsigned i = 0; i < n; i++)
		if (!one(argument))
			return 1;
	after = used_now();
	printf("%.1f %.1f %.1f %.1f\n", (after.wall - before.wall) / n,
		(after.user - before.user) / n, (after.system - before.system) / n,
		(after.faults - before.faults) / n);
	return 0;
}

int main(int argc, char **argv)
{
	char **command;

	if (argc == 3 && strcmp(argv[1], "work") == 0) {
		work((unsigned)atoi(argv[2]));
		return 0;
	}
	if (argc < 4 || atoi(argv[2]) < 1)
		return 2;
	if (strcmp(argv[1], "fork") == 0)
		return storm(fork_one, (unsigned)atoi(argv[2]), argv + 3);
	command = variables_set(argv + 3);
	return *command ? storm(exec_one, (unsigned)atoi(argv[2]), command) : 2;
}
