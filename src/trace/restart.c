/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restarts system calls that a stop has interrupted (restart.h), in the way that the kernel of
 * each architecture allows. */
#include "src/trace/restart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"

#ifdef __x86_64__

/* What a system call returns inside the kernel when it is to be restarted: the kernel's errno.h. */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516
#define NR_RESTART_SYSCALL    219

/*
 * Restarts a system call that our stop interrupted, but not if a signal's handler runs first:
 * then the EINTR is the handler's. Whether one runs is unknown until the thread goes on. So the
 * kernel decides, which checks for signals then; it has an error number for such calls. An
 * interrupted close has closed already.
 */
void trace_restart_call(struct trace_thread *t)
{
	struct user_regs_struct *r = &t->now;

	if ((long)r->rax != -EINTR || (long)r->orig_rax < 0 || r->orig_rax == SYS_close)
		return;
	r->rax = (unsigned long)-ERESTARTNOHAND;
	ptrace(PTRACE_SETREGS, t->tid, NULL, r);
}

void trace_restart_registers(const struct trace_thread *t, struct user_regs_struct *r)
{
	*r = t->regs;
	if ((long)r->orig_rax < 0)
		return;
	switch (-(long)r->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	case EINTR:
		r->rax = r->orig_rax;
		r->rip -= 2;
		break;
	case ERESTART_RESTARTBLOCK:
		r->rax = NR_RESTART_SYSCALL;
		r->rip -= 2;
		break;
	default:
		break;
	}
}

void trace_restart_before(struct trace_thread *t, pid_t pid)
{
}

void trace_restart_note(struct trace_thread *t, pid_t pid)
{
}

#elif defined(__aarch64__)

/*
 * Here the kernel has already put back calls that it restarts itself. It has forgotten the number
 * of one that returns EINTR, and x0 holds the error instead of the first argument
 * (arch/arm64/kernel/signal.c, do_signal). So /proc/PID/task/TID/syscall is read before the thread
 * is interrupted: it shows the call that the thread sleeps in, and all its arguments. All that is
 * in registers must be the same afterwards, and the thread must not have slept again: it has
 * switched once since, to stop. (A thread that woke just then, made a call of the same arguments
 * but the first from the same place, and was cut off before it slept, would be taken for one that
 * had slept on.)
 *
 * A thread that was not in a call before may stop right behind one that has returned EINTR because
 * of a handler: that is not restarted. An interrupted close has closed already.
 *
 * To restart the call, the thread is sent back to its instruction, until it enters the kernel. If a
 * signal comes before it does, that call has ended with the EINTR that a handler's program expects.
 */
#define SVC_BYTES 4u
#define ENTER_NS  UINT64_C(2000000000) /* one instruction, and a place on a processor */

/* What the kernel shows of a thread in a call. False: it is in none, or runs. */
static bool call_read(pid_t pid, pid_t tid, struct trace_call *c)
{
	char path[64], text[256], *at = text;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	got = proc_file_read(path, text, sizeof(text));
	if (got <= 0 || text[0] < '0' || text[0] > '9')
		return false;
	c->number = strtol(at, &at, 10);
	for (unsigned i = 0; i < TRACE_CALL_ARGS; i++)
		c->arg[i] = strtoull(at, &at, 16);
	c->sp = strtoull(at, &at, 16);
	c->pc = strtoull(at, &at, 16);
	return c->pc != 0;
}

/* How often the thread has gone to sleep. False: unknown. */
static bool sleeps_read(pid_t pid, pid_t tid, long *sleeps)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return proc_status_number(path, "\nvoluntary_ctxt_switches:", false, sleeps);
}

void trace_restart_before(struct trace_thread *t, pid_t pid)
{
	long before = 0;

	t->call.is_known = sleeps_read(pid, t->tid, &before) && call_read(pid, t->tid, &t->call) &&
			   sleeps_read(pid, t->tid, &t->call.sleeps) && t->call.sleeps == before;
}

/* Whether the thread's registers are those of a call that has returned EINTR: the one it was in
 * before. */
static bool is_cut_off(const struct trace_thread *t)
{
	const struct user_regs_struct *r = &t->regs;

	return t->call.is_known && t->call.number != SYS_close && (long)r->regs[0] == -EINTR &&
	       t->system.call < 0 && (long)r->regs[8] == t->call.number && r->pc == t->call.pc &&
	       r->sp == t->call.sp &&
	       memcmp(&r->regs[1], &t->call.arg[1],
		       (TRACE_CALL_ARGS - 1) * sizeof(t->call.arg[0])) == 0;
}

void trace_restart_note(struct trace_thread *t, pid_t pid)
{
	long sleeps = 0;

	t->call.is_known =
		is_cut_off(t) && sleeps_read(pid, t->tid, &sleeps) && sleeps == t->call.sleeps + 1;
}

/* Waits until the thread stops again. False: it did not. */
static bool stops_again(pid_t tid, int *status)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	uint64_t until = clock_monotonic_ns() + ENTER_NS;
	pid_t got;

	while ((got = waitpid(tid, status, __WALL | WNOHANG)) == 0 && clock_monotonic_ns() < until)
		nanosleep(&pause, NULL);
	if (got == 0) {
		/* It may have entered the call meanwhile, or not: a stop says. */
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		got = waitpid(tid, status, __WALL);
	}
	return got == tid && WIFSTOPPED(*status);
}

/* Whether the thread is where the call enters the kernel. */
static bool has_entered(const struct trace_thread *t, int status)
{
	struct user_regs_struct r;
	struct trace_system system;

	return WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 &&
	       trace_registers_read(t->tid, &r, &system) && r.pc == t->call.pc &&
	       system.call == t->call.number;
}

/* Whether the signal has a handler in the thread's program. True also if that is unknown. */
static bool is_caught(pid_t tid, int signal)
{
	char path[64], text[4096];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	p = proc_file_read(path, text, sizeof(text)) > 0 ? strstr(text, "\nSigCgt:") : NULL;
	return !p || (strtoull(p + strlen("\nSigCgt:"), NULL, 16) >> (signal - 1) & 1) != 0;
}

/* Lets the thread go back to the call. 0: it has entered it; -EINTR: it is not to, since a handler
 * comes first. Signals without a handler are delivered on the way. */
static int call_enter(struct trace_thread *t)
{
	int status;

	for (;;) {
		if (t->signal != 0 && is_caught(t->tid, t->signal))
			return -EINTR;
		ptrace(PTRACE_SYSCALL, t->tid, NULL, (void *)(uintptr_t)(unsigned)t->signal);
		t->signal = 0;
		if (!stops_again(t->tid, &status) || has_entered(t, status))
			return 0;
		if (status >> 16 != 0)
			return -EINTR;
		t->signal = WSTOPSIG(status);
	}
}

void trace_restart_call(struct trace_thread *t)
{
	struct user_regs_struct back = t->now;

	if (!t->call.is_known)
		return;
	t->call.is_known = false;
	back.regs[0] = t->call.arg[0];
	back.pc -= SVC_BYTES;
	if (trace_registers_write(t->tid, &back) && call_enter(t) != 0)
		(void)trace_registers_write(t->tid, &t->now);
}

void trace_restart_registers(const struct trace_thread *t, struct user_regs_struct *r)
{
	*r = t->regs;
}

#else

void trace_restart_before(struct trace_thread *t, pid_t pid)
{
}

void trace_restart_note(struct trace_thread *t, pid_t pid)
{
}

void trace_restart_call(struct trace_thread *t)
{
}

void trace_restart_registers(const struct trace_thread *t, struct user_regs_struct *r)
{
	*r = t->regs;
}

#endif
