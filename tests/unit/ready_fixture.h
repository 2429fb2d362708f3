/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded program that waits, for tests of leak scans. */
#ifndef TESTS_UNIT_READY_FIXTURE_H
#define TESTS_UNIT_READY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

/* A program of tests/targets under the library, once it has said "ready". It goes on when `*in` is
 * closed. */
static inline pid_t ready_start(const char *name, int *in)
{
	const char *build = getenv("B");
	char library[512], program[512], line[16] = "";
	int to[2], from[2];
	pid_t pid;

	snprintf(library, sizeof(library), "%s/libheaptop.so", build ? build : "build");
	snprintf(program, sizeof(program), "%s/tests/targets/%s", build ? build : "build", name);
	CHECK(pipe(to) == 0 && pipe(from) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		setenv("LD_PRELOAD", library, 1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	CHECK(read(from[0], line, sizeof(line) - 1) > 0);
	CHECK(strncmp(line, "ready", 5) == 0);
	*in = to[1];
	return pid;
}

#endif
