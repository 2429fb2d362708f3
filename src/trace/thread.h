/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of a process that is being stopped (stop.h), and what is known of it. */
#ifndef SRC_TRACE_THREAD_H
#define SRC_TRACE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "src/trace/registers.h"

enum trace_thread_state {
	TRACE_THREAD_RUNS, /* seized, not stopped */
	TRACE_THREAD_STOPPED,
	TRACE_THREAD_UNSEIZED, /* it cannot be seized */
	TRACE_THREAD_GONE,
};

/* The system call that a thread was in when it was interrupted (restart.h). */
#define TRACE_CALL_ARGS 6u
struct trace_call {
	bool is_known; /* before the thread stops: it is in one; afterwards: that was cut off */
	bool is_put_back; /* the thread is before the call again: the kernel has seen to that */
	bool is_left; /* the thread has been elsewhere since, and blocked the signals of `mask` */
	bool has_limit; /* a call with a time limit was cut off (restart_limit.h) */
	uint64_t mask;
	long number, sleeps; /* how often it had gone to sleep */
	uint64_t arg[TRACE_CALL_ARGS], sp, pc;
};

struct trace_thread {
	pid_t tid;
	enum trace_thread_state state;
	int signal; /* a signal that it was about to take when it stopped; 0: none */
	bool held; /* stopped by us alone */
	int event; /* PTRACE_EVENT_* of the last stop; 0: a signal */
	bool reports; /* its options are set: trace_stop_trace */
	bool leaving; /* it was resumed at its end: it ends, and stops no more (exit_stop.h) */
	struct user_regs_struct regs; /* at its last stop */
	struct trace_system system; /* with `regs` */
	struct trace_call call; /* to be restarted; only where registers do not tell */
	struct user_regs_struct now; /* with which it is resumed */
	void *vectors; /* the vector registers in XSAVE's layout; NULL: unknown */
	size_t vector_bytes;
};

#endif
