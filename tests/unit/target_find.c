/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long target_find waits for a process that may not have started yet: one that is in
 * uninterruptible sleep, since its child of vfork has not gone on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/target/target.h"
#include "tests/check.h"

static pid_t asleep; /* ended in the first wait */
static unsigned waits;

/* In the place of libc's. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	waits++;
	kill(-asleep, SIGKILL);
	waitpid(asleep, NULL, 0);
	return 0;
}

/* A group of its own: it, and its child. */
static void asleep_start(void)
{
	struct proc_reading r = { 0 };

	waits = 0;
	asleep = fork();
	if (asleep == 0) {
		setpgid(0, 0);
		if (vfork() == 0)
			pause();
		_exit(0);
	}
	setpgid(asleep, asleep);
	while (proc_read(asleep, false, &r) == 0 && r.state != 'D')
		;
}

static int find(uint64_t ns)
{
	char message[TARGET_MESSAGE_MAX];
	struct target_segment found;

	return target_find_within(asleep, ns, &found, message);
}

TEST(one_that_may_not_have_started_is_waited_for)
{
	asleep_start();
	CHECK_INT(find(UINT64_C(1000000000000)), -ESRCH);
	CHECK_INT(waits, 1);
}

TEST(but_not_beyond_the_time_given)
{
	asleep_start();
	CHECK_INT(find(0), -ENOENT);
	CHECK_INT(waits, 0);
	nanosleep(NULL, NULL);
}

int main(void)
{
	RUN(one_that_may_not_have_started_is_waited_for);
	RUN(but_not_beyond_the_time_given);
	return check_end();
}
