/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What seccomp filters return, and what a stopped child's would do to calls of the recorder. */
#include <linux/audit.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/trace/filter.h"
#include "tests/check.h"

#define LENGTH(code) (sizeof(code) / sizeof((code)[0]))
#define LOAD(field)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

static uint32_t ran(const struct sock_filter *code, size_t count, int number, uint64_t first)
{
	struct seccomp_data data = { number, AUDIT_ARCH_X86_64, 0, { first } };

	return trace_filter_run(code, (unsigned)count, &data);
}

TEST(by_number)
{
	const struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW),
	};

	CHECK(ran(code, LENGTH(code), SYS_mmap, 0) == SECCOMP_RET_TRAP);
	CHECK(ran(code, LENGTH(code), SYS_mprotect, 0) == SECCOMP_RET_ALLOW);
	CHECK(ran(code, LENGTH(code), 200, 0) == SECCOMP_RET_ALLOW);
}

TEST(by_argument)
{
	const struct sock_filter code[] = {
		LOAD(args[0]),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 4),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 3),
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | 13),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	CHECK(ran(code, LENGTH(code), 0, 5) == (SECCOMP_RET_ERRNO | 13));
	CHECK(ran(code, LENGTH(code), 0, 14) == 10);
}

TEST(not_understood)
{
	const struct sock_filter far[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4096),
		RETURN(SECCOMP_RET_ALLOW) };
	const struct sock_filter endless[] = { BPF_JUMP(BPF_JMP | BPF_JA, 7, 0, 0) };

	CHECK(ran(far, LENGTH(far), 0, 0) == SECCOMP_RET_KILL_PROCESS);
	CHECK(ran(endless, LENGTH(endless), 0, 0) == SECCOMP_RET_KILL_PROCESS);
}

/* A child that stops under a filter which kills it for one call, beneath one that allows all. */
static pid_t filtered(int number)
{
	struct sock_filter all[] = { RETURN(SECCOMP_RET_ALLOW) };
	struct sock_filter one[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog outer = { LENGTH(one), one }, inner = { LENGTH(all), all };
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &outer);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &inner);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

static const char *forbidden(int number)
{
	pid_t pid = filtered(number);
	const char *call = trace_filter_forbids(pid);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return call;
}

/* The recorder makes them later, on the program's own threads. */
static const struct {
	int number;
	const char *name;
} needed[] = { { SYS_sysinfo, "sysinfo" }, { SYS_madvise, "madvise" } };

TEST(of_a_child)
{
	const char *call = forbidden(SYS_mremap);

	if (geteuid() != 0 || (call && strcmp(call, "?") == 0))
		SKIP("filters cannot be read here");
	CHECK(call && strcmp(call, "mremap") == 0);
	for (unsigned i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		call = forbidden(needed[i].number);
		CHECK_STR(call ? call : "none", needed[i].name);
	}
	CHECK(forbidden(SYS_socket) == NULL);
}

int main(void)
{
	RUN(by_number);
	RUN(by_argument);
	RUN(not_understood);
	RUN(of_a_child);
	return check_end();
}
