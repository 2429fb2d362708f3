/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that is killed while its memory is read: from then on it seems to point to nothing. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/analysis/roots.h"
#include "src/leak/save.h"
#include "src/leak/scan.h"
#include "src/target/target.h"
#include "tests/unit/launch_fixture.h"
#include "tests/unit/ptrace_fixture.h"
#include "tests/unit/ready_fixture.h"

static pid_t program;
static bool stops; /* it has been asked to */
/* Reads of its memory since then: those until it is killed, all, and those until it went on. */
static int reads_left = -1;
static unsigned reads_done, reads_stopped;
static bool dies_unstopped; /* when it is to stop, it is killed */

static void program_kill(void)
{
	siginfo_t info;

	kill(program, SIGKILL);
	waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
}

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
	if (pid == program && stops) {
		if (reads_left >= 0 && reads_left-- == 0)
			program_kill();
		reads_done++;
	}
	return __real_process_vm_readv(pid, local, locals, remote, remotes, flags);
}

static long ptrace_instead(int request, pid_t tid, void *addr, void *data)
{
	if (request == PTRACE_DETACH && tid == program && reads_stopped == 0)
		reads_stopped = reads_done;
	if (request == PTRACE_INTERRUPT && tid == program && dies_unstopped)
		program_kill();
	stops |= request == PTRACE_INTERRUPT && tid == program;
	return __real_ptrace(request, tid, addr, data);
}

/* What is done to the program, which is killed after so many reads; -1: not. The error. */
static int done_to_it(int (*what)(struct read_segment *segment, void *ctx, char *message),
	void *ctx, int reads, char *message)
{
	struct target_segment found;
	struct read_segment *segment;
	int in, rc;

	program = ready_start("copies", &in);
	CHECK_INT(target_find(program, &found, message), 0);
	segment = read_open(found.path, message);
	CHECK(segment != NULL);
	reads_left = reads;
	reads_done = reads_stopped = 0;
	stops = false;
	rc = what(segment, ctx, message);
	reads_left = -1;
	read_close(segment);
	close(in);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	return rc;
}

struct scan {
	enum leak_copying copying;
	struct leak_result result;
};

static int scan(struct read_segment *segment, void *ctx, char *message)
{
	struct scan *s = ctx;
	struct leak_scan_options options = {
		.pid = program, .roots = LEAK_ROOT_ALL, .heuristics = ~0u, .copying = s->copying
	};

	return leak_scan(segment, &options, &s->result, message);
}

static int save(struct read_segment *segment, void *ctx, char *message)
{
	int fd = memfd_create("core", MFD_CLOEXEC), rc;

	rc = leak_save(segment, program, fd, ctx, message);
	close(fd);
	return rc;
}

static void check_ended(
	int (*what)(struct read_segment *segment, void *ctx, char *message), void *ctx, int reads)
{
	char message[TRACE_MESSAGE_MAX], want[TRACE_MESSAGE_MAX];

	CHECK_INT(done_to_it(what, ctx, reads, message), -ESRCH);
	snprintf(want, sizeof(want), "process %d ended before all of its memory was read",
		(int)program);
	CHECK_STR(message, want);
}

static void check_killed(enum leak_copying copying, int reads)
{
	struct scan s = { .copying = copying };

	check_ended(scan, &s, reads);
}

static unsigned reads_of_scan(enum leak_copying copying)
{
	struct scan s = { .copying = copying };
	char message[TRACE_MESSAGE_MAX];

	CHECK_INT(done_to_it(scan, &s, -1, message), 0);
	CHECK_INT(s.result.access.copied, copying == LEAK_COPY_ALWAYS);
	leak_result_free(&s.result);
	return reads_stopped;
}

TEST(a_scan_says_so)
{
	CHECK(reads_of_scan(LEAK_COPY_NEVER) >= 8);
	for (int reads = 0; reads < 8; reads++)
		check_killed(LEAK_COPY_NEVER, reads);
}

/* What a copy lacks is read of the program itself. */
TEST(a_scan_of_a_copy_says_so)
{
	int most = (int)reads_of_scan(LEAK_COPY_ALWAYS);

	CHECK(most > 0);
	for (int reads = 0; reads < most; reads++)
		check_killed(LEAK_COPY_ALWAYS, reads);
}

TEST(before_it_stopped)
{
	dies_unstopped = true;
	check_killed(LEAK_COPY_NEVER, -1);
	check_killed(LEAK_COPY_ALWAYS, -1);
	dies_unstopped = false;
}

/* Not even a copy could be made. */
TEST(a_core_says_so)
{
	struct leak_saved saved;

	check_ended(save, &saved, 0);
}

int main(void)
{
	launch_dir_make();
	RUN(a_scan_says_so);
	RUN(a_scan_of_a_copy_says_so);
	RUN(before_it_stopped);
	RUN(a_core_says_so);
	launch_dir_drop();
	return check_end();
}
