// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * untraceable refuse|kill COMMAND...: runs COMMAND where nobody may trace or read another process:
 * the system calls for that fail with EPERM, as in a container without CAP_SYS_PTRACE or under
 * Yama's ptrace_scope 3, or are the end of whoever makes one.
 */
#include <err.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE AUDIT_ARCH_X86_64
#endif
#define REFUSED(call)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, outcome)

int main(int argc, char *argv[])
{
	unsigned outcome = argc > 1 && !strcmp(argv[1], "kill") ? SECCOMP_RET_KILL_PROCESS
								: SECCOMP_RET_ERRNO | EPERM;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSED(ptrace),
		REFUSED(process_vm_readv),
		REFUSED(process_vm_writev),
		REFUSED(pidfd_getfd),
		REFUSED(kcmp),
		REFUSED(perf_event_open),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (argc < 3)
		errx(125, "usage: untraceable refuse|kill COMMAND...");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(125, "seccomp");
	execvp(argv[2], &argv[2]);
	err(127, "%s", argv[2]);
}
