/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A child of which only its second thread is left, for the tests of what is read of processes. */
#ifndef TESTS_UNIT_SECOND_THREAD_H
#define TESTS_UNIT_SECOND_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "src/proc/proc.h"

static inline void *second_thread_run(void *arg)
{
	prctl(PR_SET_NAME, "runs-on");
	pause();
	return arg;
}

/* The caller kills it, and waits for it. */
static inline pid_t second_thread_start(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, second_thread_run, NULL) == 0)
			syscall(SYS_exit, 0);
		_exit(1);
	}
	while (pid > 0 && proc_memory_tid(pid) == pid)
		usleep(1000);
	return pid;
}

#endif
