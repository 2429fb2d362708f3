/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads can be borrowed (borrow.h). Sources: ptrace(2), rseq(2), prctl(2). */
#include "src/trace/borrow.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>

#include "src/proc/proc.h"
#include "src/trace/restart.h"

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

bool trace_borrow_filtered(pid_t tid)
{
	char path[64];
	long mode;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return !proc_status_number(path, "\nSeccomp:", false, &mode) || mode != 0;
}

bool trace_borrow_dispatched(pid_t tid)
{
	uint64_t config[4] = { 0 };

	return ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, (void *)sizeof(config),
		       config) == 0 &&
	       config[0] != 0;
}

bool trace_borrow_in_call(const struct trace_thread *t)
{
	return t->system.call >= 0 || t->call.is_put_back || t->call.is_known;
}

bool trace_borrow_in_sequence(const struct trace_thread *t)
{
	struct __ptrace_rseq_configuration c = { 0 };
	long word;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof(c), &c) < 0)
		return false; /* the kernel or the thread has no rseq */
	if (c.rseq_abi_pointer == 0)
		return false;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, t->tid, (void *)(uintptr_t)(c.rseq_abi_pointer + 8), NULL);
	return word != 0 || errno != 0;
}

bool trace_borrow_may(const struct trace_thread *t, bool filters)
{
	return t->state == TRACE_THREAD_STOPPED && t->held && t->signal == 0 &&
	       !trace_registers_narrow(&t->regs) && !trace_registers_lost(t->tid) &&
	       !(filters && trace_borrow_filtered(t->tid)) && !trace_borrow_dispatched(t->tid) &&
	       trace_restart_may(t) && (trace_borrow_in_call(t) || !trace_borrow_in_sequence(t));
}
