/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the viewer (thread.h). Any thread may start one. */
#include "src/util/thread.h"

#include <errno.h>
#include <signal.h>

#include "src/util/shortage.h"

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
	/* glibc returns EAGAIN for both shortages, but their remedies differ. */
	if (rc == EAGAIN && !shortage_has_memory(stack_bytes))
		rc = ENOMEM;
	return -rc;
}
