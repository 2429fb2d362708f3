/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command and writes to FILE what it used: status; user and system seconds of it and of all
 * that it started, daemons too; the largest resident set among them in KB; seconds until it ended.
 * Small on purpose: a process inherits the resident set of the one that forked it into its own
 * maximum. The variables are set for the command only; LD_PRELOAD must not come to an interpreter
 * in between, as a profiler may take it out of the environment of the first program it is in.
 *
 * Usage: usage FILE [NAME=VALUE...] -- COMMAND [ARG...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits for the command, then for what others have left to us. Its status, and when it ended. */
static int all_end(pid_t command, double *end)
{
	int status = 0, any;
	pid_t pid;

	while ((pid = wait(&any)) > 0)
		if (pid == command) {
			status = any;
			*end = now();
		}
	return status;
}

static int result_write(const char *path, int status, double wall)
{
	FILE *f = fopen(path, "w");
	struct rusage u;

	if (!f || getrusage(RUSAGE_CHILDREN, &u) != 0)
		return 125;
	fprintf(f, "%d %.6f %.6f %ld %.6f\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		seconds(&u.ru_utime), seconds(&u.ru_stime), u.ru_maxrss, wall);
	return fclose(f) == 0 ? 0 : 125;
}

int main(int argc, char **argv)
{
	double begin = now(), end = begin;
	int at = 2, status;
	pid_t pid;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at + 1 >= argc)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		for (int i = 2; i < at; i++)
			putenv(argv[i]);
		execvp(argv[at + 1], argv + at + 1);
		_exit(127);
	}
	if (pid < 0)
		return 125;
	status = all_end(pid, &end);
	return result_write(argv[1], status, end - begin);
}
