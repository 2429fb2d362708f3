/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain programs that wait, for tests that inspect processes from outside. */
#ifndef TESTS_UNIT_EXEC_FIXTURE_H
#define TESTS_UNIT_EXEC_FIXTURE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/check.h"

/*
 * A child that has become the program `path`, whose exec closes the second pipe. Not before we have
 * closed our end of that: ours would be the last one, in the middle of its exec, when the new image
 * has no command line yet.
 */
static inline pid_t exec_start(const char *path, char *const *argv)
{
	int go[2], running[2];
	char byte = 0;
	pid_t pid;

	CHECK_INT(pipe2(go, O_CLOEXEC), 0);
	CHECK_INT(pipe2(running, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &byte, 1) == 1)
			execv(path, argv);
		_exit(127);
	}
	close(running[1]);
	CHECK_INT(write(go[1], &byte, 1), 1);
	CHECK_INT(read(running[0], &byte, 1), 0);
	close(running[0]);
	close(go[0]);
	close(go[1]);
	return pid;
}

#endif
