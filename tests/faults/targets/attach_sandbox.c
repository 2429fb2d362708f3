/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program under a seccomp filter that kills it for each system call that makes a file, thread or
 * process; it allocates, and sleeps in between.
 *
 *	attach_sandbox PAGE [tight|nameless|private]
 *
 * tight: nor may it map memory; its heap is large enough before. nameless: nor may it ask for its
 * own number. private: no filter, but it is not
 * dumpable and gains no privileges.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/faults/targets/attach_page.h"

#define KILL_ON(number)                                                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void filter_set(int tight, int nameless)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL_ON(SYS_memfd_create),
		KILL_ON(SYS_openat),
		KILL_ON(SYS_open),
		KILL_ON(SYS_clone),
		KILL_ON(SYS_clone3),
		KILL_ON(SYS_prctl),
		KILL_ON((unsigned)(tight ? SYS_mprotect : SYS_clone3)),
		KILL_ON((unsigned)(tight ? SYS_mmap : SYS_clone3)),
		KILL_ON((unsigned)(nameless ? SYS_getpid : SYS_clone3)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(2);
}

static void privacy_set(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0))
		_exit(2);
}

int main(int argc, char **argv)
{
	struct timespec nap = { .tv_nsec = 5000000 };
	const char *how = argc > 2 ? argv[2] : "";
	unsigned state = 1;
	void *volatile large;

	if (argc < 2)
		return 2;
	page_open(argv[1]);
	large = malloc(100000);
	free(large);
	if (strcmp(how, "private") == 0)
		privacy_set();
	else
		filter_set(strcmp(how, "tight") == 0, strcmp(how, "nameless") == 0);
	page_ready();
	while (!page_stopped()) {
		page_allocate(&state);
		page_goes_on();
		nanosleep(&nap, NULL);
	}
	return page_end();
}
