/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that allocates, forbids itself all but a few things, and does the same again. Usage:
 *
 *	forbids _exit		all system calls but write and the end, on pain of death; ends so,
 *	forbids quick_exit	or so
 *	forbids strict		the kernel's own strict sandbox, which forbids the processor's clock
 *	forbids clock		that clock alone; a forked child allocates, too
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void work(void)
{
	void *volatile p;

	for (size_t i = 0; i < 10000; i++) {
		p = realloc(malloc(i % 1000), 2000);
		free(p);
	}
	p = malloc(77);
}

static int only_the_end(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int clock_forbidden(void)
{
#ifdef PR_TSC_SIGSEGV
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
#else
	return 1;
#endif
}

static int forbidden(const char *what)
{
	if (strcmp(what, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
	return strcmp(what, "clock") == 0 ? clock_forbidden() : only_the_end();
}

static int child_works(void)
{
	int status;

	if (fork() == 0) {
		work();
		_exit(0);
	}
	return wait(&status) < 0 || status != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	work();
	if (!forbidden(what))
		return 3;
	work();
	if (write(1, "done\n", 5) != 5)
		return 4;
	if (strcmp(what, "strict") == 0)
		syscall(SYS_exit, 5);
	if (strcmp(what, "quick_exit") == 0)
		quick_exit(5);
	if (strcmp(what, "_exit") == 0)
		_exit(5);
	return child_works() ? 6 : 5;
}
