/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For a test that is linked with --wrap=ptrace: it does ptrace_instead where the viewer calls
 * ptrace. */
#ifndef TESTS_UNIT_PTRACE_FIXTURE_H
#define TESTS_UNIT_PTRACE_FIXTURE_H

#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/types.h>

/* The kernel's. */
long __real_ptrace(int request, pid_t tid, void *addr, void *data);
long __wrap_ptrace(int request, ...);

/* The test's. Result and errno as of ptrace. */
static long ptrace_instead(int request, pid_t tid, void *addr, void *data);

long __wrap_ptrace(int request, ...)
{
	void *addr, *data;
	va_list ap;
	pid_t tid;

	va_start(ap, request);
	tid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	return ptrace_instead(request, tid, addr, data);
}

#endif
