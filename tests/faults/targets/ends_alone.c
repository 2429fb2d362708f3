/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has children: one that has ended, one that a signal ended if asked to, one that was forked and
 * one that has called exec since. Says "ready", and when it gets a line they end, and then it does,
 * in the way that its argument names. Usage: ends_alone return|exit|_exit|quick_exit [crash]
 */
#include <signal.h>
#include <sys/wait.h>
#include "tests/faults/targets/witness.h"

static const char *way;
static int go; /* children read the end of their parent's pipe here */

static int end(void)
{
	free(witness_malloc(100));
	if (strcmp(way, "exit") == 0)
		exit(0);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(0);
	return 0;
}

static void await(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

static void exec_self(const char *self)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", go);
	execl(self, self, way, "child", number, (char *)NULL);
	_exit(9);
}

int main(int argc, char **argv)
{
	int pipe_to[2], said[2], status;
	char line[8];

	way = argv[1];
	if (argc > 3) {
		go = atoi(argv[3]);
		witness_need(write(1, "child\n", 6) == 6, "nobody reads");
		await(go);
		return end();
	}
	free(witness_malloc(100));
	witness_need(pipe(pipe_to) == 0 && pipe(said) == 0, "no pipe");
	go = pipe_to[0];
	for (int kind = 0; kind < 4; kind++) {
		pid_t child = fork();

		if (child == 0) {
			close(pipe_to[1]);
			free(witness_malloc(100));
			if (kind == 0)
				return end();
			if (kind == 1 && argc > 2)
				kill(getpid(), SIGKILL);
			if (kind == 1)
				return end();
			if (kind == 2) {
				await(go);
				return end();
			}
			dup2(said[1], 1);
			exec_self(argv[0]);
		}
		if (kind < 2)
			waitpid(child, &status, 0);
	}
	witness_need(read(said[0], line, 6) == 6, "the last child says nothing");
	puts("ready");
	fflush(stdout);
	witness_need(fgets(line, sizeof(line), stdin) != NULL, "no line");
	close(pipe_to[1]);
	while (wait(&status) > 0)
		witness_need(status == 0, "a child ends in another way");
	puts("done");
	fflush(stdout);
	return end();
}
