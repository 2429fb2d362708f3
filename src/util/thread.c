/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the viewer (thread.h). Any thread may start one. */
#include "src/util/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

/* glibc says EAGAIN of both; what to do about it differs. */
static bool has_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	munmap(p, bytes);
	return true;
}

int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *ctx), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc = pthread_attr_init(&attr);

	if (rc != 0)
		return -rc;
	rc = pthread_attr_setstacksize(&attr, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (rc == 0)
		rc = pthread_create(thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == EAGAIN && !has_memory(stack_bytes))
		rc = ENOMEM;
	return -rc;
}
