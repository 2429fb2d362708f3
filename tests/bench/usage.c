/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command and writes to FILE what it used: status, user and system seconds of it and of the
 * children it waited for, the largest resident set among them in KB. Small on purpose: a process
 * inherits the resident set of the one that forked it into its own maximum. The variables are set
 * for the command only; LD_PRELOAD must not come to an interpreter in between, as a profiler may
 * take it out of the environment of the first program it is in.
 *
 * Usage: usage FILE [NAME=VALUE...] -- COMMAND [ARG...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static int result_write(const char *path, int status, const struct rusage *u)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return 125;
	fprintf(f, "%d %.6f %.6f %ld\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		seconds(&u->ru_utime), seconds(&u->ru_stime), u->ru_maxrss);
	return fclose(f) == 0 ? 0 : 125;
}

int main(int argc, char **argv)
{
	int at = 2, status;
	struct rusage used;
	pid_t pid;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at + 1 >= argc)
		return 2;
	pid = fork();
	if (pid == 0) {
		for (int i = 2; i < at; i++)
			putenv(argv[i]);
		execvp(argv[at + 1], argv + at + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 125;
	return result_write(argv[1], status, &used);
}
