/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that is killed while its memory is read: from then on it seems to point to nothing. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/analysis/roots.h"
#include "src/leak/scan.h"
#include "src/target/target.h"
#include "tests/unit/launch_fixture.h"
#include "tests/unit/ready_fixture.h"

static pid_t program;
static int reads_left = -1; /* then it is killed */

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
	siginfo_t info;

	if (reads_left >= 0 && reads_left-- == 0) {
		kill(program, SIGKILL);
		waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT);
	}
	return __real_process_vm_readv(pid, local, locals, remote, remotes, flags);
}

/* Scans it, and kills it after so many reads; -1: not. The error; 0 with `result`. */
static int scan(int reads, struct leak_result *result, char *message)
{
	struct leak_scan_options options = {
		.roots = LEAK_ROOT_ALL, .heuristics = ~0u, .copying = LEAK_COPY_NEVER
	};
	struct target_segment found;
	struct read_segment *segment;
	int in, rc;

	program = options.pid = ready_start("copies", &in);
	CHECK_INT(target_find(program, &found, message), 0);
	segment = read_open(found.path, message);
	CHECK(segment != NULL);
	reads_left = reads;
	rc = leak_scan(segment, &options, result, message);
	reads_left = -1;
	read_close(segment);
	close(in);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	return rc;
}

TEST(a_scan_says_so)
{
	struct leak_result result = { 0 };
	char message[TRACE_MESSAGE_MAX], want[TRACE_MESSAGE_MAX];

	CHECK_INT(scan(-1, &result, message), 0);
	leak_result_free(&result);
	for (int reads = 0; reads < 8; reads++) {
		CHECK_INT(scan(reads, &result, message), -ESRCH);
		snprintf(want, sizeof(want),
			"process %d was killed before all of its memory was read", (int)program);
		CHECK_STR(message, want);
	}
}

int main(void)
{
	launch_dir_make();
	RUN(a_scan_says_so);
	launch_dir_drop();
	return check_end();
}
