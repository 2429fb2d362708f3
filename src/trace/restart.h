/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Restarts system calls that a stop has interrupted. A few calls notice a stop: they return EINTR
 * although no signal arrived (signal(7): epoll_wait, sigtimedwait, semtimedop and others). Such a
 * call is restarted, unless a signal's handler is to run first. Its time limit begins anew, but the
 * time since its first restart counts (restart_limit.h; x86-64). The thread that stopped the
 * process.
 */
#ifndef SRC_TRACE_RESTART_H
#define SRC_TRACE_RESTART_H

#include "src/trace/thread.h"

/* Before the thread is interrupted. */
void trace_restart_before(struct trace_thread *t, pid_t pid);
/* When it has stopped, and its registers were read. */
void trace_restart_note(struct trace_thread *t, pid_t pid);
/* Before it is resumed: with t->now. */
void trace_restart_call(struct trace_thread *t);
/*
 * The registers with which a thread may be resumed later, from elsewhere, as the kernel would
 * resume it now: a system call that the stop interrupted is restarted.
 */
void trace_restart_registers(const struct trace_thread *t, struct user_regs_struct *r);
#ifdef __aarch64__
/* Whether they are those of a thread that is to call restart_syscall(2), and the kernel forgets how
 * to resume the call if it returns there by rt_sigreturn(2). */
bool trace_restart_resumes(const struct trace_thread *t, const struct user_regs_struct *r);
#endif
/* Whether a stopped thread can make other calls, and go on afterwards as if it had not. */
bool trace_restart_may(const struct trace_thread *t);
/* After those calls, while it is stopped by us alone: restores its registers and signal mask. */
bool trace_restart_return(struct trace_thread *t, uint64_t mask);

#endif
