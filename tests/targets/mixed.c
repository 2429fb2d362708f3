/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A chain of programs of two builds: mixed DEPTH THIS OTHER. Each allocates a block, and as long as
 * DEPTH is not 0 starts OTHER with DEPTH - 1: an odd one by exec, an even one by fork and exec.
 * Ends with 7, the status of the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void site_mixed(size_t bytes)
{
	kept = malloc(bytes);
}

static int start(int depth, char *this, char *other)
{
	char number[12];
	char *const argv[] = { other, number, other, this, NULL };

	snprintf(number, sizeof(number), "%d", depth);
	execv(other, argv);
	return 9;
}

int main(int argc, char **argv)
{
	int depth = argc == 4 ? atoi(argv[1]) : 0, status;
	pid_t child;

	site_mixed((size_t)(1000 + depth * 10) + sizeof(void *));
	if (depth == 0)
		return 7;
	if (depth % 2 != 0)
		return start(depth - 1, argv[2], argv[3]);
	child = fork();
	if (child == 0)
		_exit(start(depth - 1, argv[2], argv[3]));
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 8;
}
