/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lock on the process's folder in /proc (attach_turn.h): all viewers see the same one, and
 * nothing stays of it. Source: flock(2). */
#include "src/run/attach_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "src/run/signals.h"
#include "src/util/clock.h"

#define AGAIN_NS 2000000

int attach_turn_take(pid_t pid, uint64_t until_ns)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK || clock_monotonic_ns() >= until_ns || signals_pending()) {
			close(fd);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

void attach_turn_end(int turn)
{
	if (turn >= 0)
		close(turn);
}
