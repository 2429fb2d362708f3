/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read of a process whose first thread has ended, for which /proc/PID has neither memory
 * nor a root directory. */
#include <errno.h>
#include <limits.h>
#include <sys/wait.h>

#include "src/far/agent_file.h"
#include "src/proc/fault_events.h"
#include "tests/unit/second_thread.h"
#include "tests/unit/segment_fixture.h"

static pid_t pid;

static void visit(void *ctx, uint64_t addr)
{
	(void)ctx;
	(void)addr;
}

TEST(its_page_faults)
{
	struct fault_events *ours = fault_events_new(getpid()), *its;

	if (!ours && (errno == EACCES || errno == EPERM))
		SKIP("the kernel does not allow perf_event_open");
	fault_events_free(ours);
	its = fault_events_new(pid);
	CHECK(its != NULL);
	if (its)
		CHECK_INT(fault_events_read(its, visit, NULL), 0);
	fault_events_free(its);
}

TEST(its_object_files)
{
	char self[PATH_MAX] = "";
	struct module_info program = { .start = 0x400000, .end = 0x500000, .path = self };
	struct far_file file = { .fd = -1 };
	struct far_piece piece = { 0 };
	struct read_segment *s;
	struct made made;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	made_open(&made, &fixture_identity);
	piece.module = module_intern(&made.s, &program);
	s = made_read(&made);
	far_file_open(&file, s, pid, &piece);
	CHECK(piece.bytes > 0 && file.fd >= 0);
	far_file_close(&file);
	read_close(s);
	made_close(&made);
}

int main(void)
{
	pid = second_thread_start();
	RUN(its_page_faults);
	RUN(its_object_files);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return check_end();
}
