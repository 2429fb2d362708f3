/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that forbids itself to open files, on pain of death, and forks after that: the child
 * allocates. Says "ready", waits for a line, and says how the child ended.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void)
{
	int status;
	char byte;

	if (!sandbox() || write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
		return 3;
	if (fork() == 0) {
		for (unsigned i = 0; i < 1000; i++) {
			void *volatile p = malloc(i);

			free(p);
		}
		_exit(0);
	}
	if (wait(&status) < 0)
		return 4;
	return dprintf(1, "child: %d\n", status) < 0;
}
