/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a recording: with each end, and whatever is known of it. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "src/session/liveness.h"
#include "tests/check.h"
#include "tests/unit/segment_fixture.h"

/* What is said of an end has room on a screen of 100 columns. */
TEST(ends_are_told_in_a_line)
{
	static const enum snap_state states[] = { SNAP_STARTING, SNAP_RUNNING, SNAP_EXITED,
		SNAP_KILLED, SNAP_GONE, SNAP_COPY };
	static const uint32_t recorded[] = { HT_STATE_PREPARED, HT_STATE_RUNNING, HT_STATE_EXITED };
	struct liveness ends[] = { { .without = 0 }, { .without = 1000 }, { .fork_alone = true },
		{ .forked_by = 4194304 }, { .unrecorded = 99999, .unrecorded_most = 99999 } };

	for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++)
		for (size_t i = 0; i < 6; i++)
			for (size_t r = 0; r < 3; r++) {
				const struct read_totals t = { .state = recorded[r] };
				const char *said = liveness_notice(&ends[e], states[i], &t);

				CHECK(!said || strlen(said) <= 96);
			}
}

/* A child that waits; its end sends `signal`, or none. */
static pid_t child_start(int signal)
{
	pid_t child = (pid_t)syscall(SYS_clone, (unsigned long)signal, 0, 0, 0, 0);

	while (child == 0)
		pause();
	return child;
}

/* A leak scan's copy is not the program's child, though the kernel has it so (forked_copy.c). */
TEST(a_copy_is_no_child)
{
	pid_t copy = child_start(0), child;
	struct liveness h = { .without = 0 };
	struct read_segment *s;
	struct made made;

	made_open(&made, &(struct segment_identity){ .pid = getpid() });
	s = made_read(&made);
	child = child_start(SIGCHLD);
	CHECK(copy > 0 && child > 0);
	/* Children count once they are a second old; the copy is the elder. */
	while (!h.unrecorded) {
		sched_yield();
		h.due_ns = 0;
		liveness_check(&h, s, HT_STATE_RUNNING, getpid());
	}
	CHECK_INT(h.unrecorded, 1);
	kill(copy, SIGKILL);
	kill(child, SIGKILL);
	waitpid(copy, NULL, __WALL);
	waitpid(child, NULL, 0);
	read_close(s);
	made_close(&made);
}

int main(void)
{
	RUN(a_copy_is_no_child);
	RUN(ends_are_told_in_a_line);
	return check_end();
}
