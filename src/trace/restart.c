/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restarts system calls that a stop has interrupted (restart.h), in the way that the kernel of
 * each architecture allows. */
#include "src/trace/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/trace/restart_limit.h"
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
	long result = -ERESTARTNOHAND;

	if ((long)r->rax != -EINTR || (long)r->orig_rax < 0 || r->orig_rax == SYS_close)
		return;
	(void)restart_limit_passed(t, &result);
	r->rax = (unsigned long)result;
	(void)trace_registers_write(t->tid, r);
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

bool trace_restart_may(const struct trace_thread *t)
{
	return true;
}

/* The kernel restarts the call itself, or ends it for a signal that has come meanwhile. The mask is
 * first: a stub that the thread is in can live with signals. */
bool trace_restart_return(struct trace_thread *t, uint64_t mask)
{
	return trace_registers_mask_write(t->tid, mask) && trace_registers_write(t->tid, &t->regs);
}

void trace_restart_before(struct trace_thread *t, pid_t pid)
{
}

void trace_restart_note(struct trace_thread *t, pid_t pid)
{
	restart_limit_note(t);
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
 *
 * A thread that made other calls meanwhile is sent back also to a call that the kernel had put back
 * itself, if signals have come: the kernel has forgotten by then that they may end the call with
 * EINTR. A sleep with a relative limit would last its whole time again: the kernel resumes it by
 * another call, but sets that only when the thread leaves the kernel (setup_restart_syscall).
 */
#define SVC_BYTES	   4u
#define SVC_MASK	   0xffe0001fu
#define SVC_CODE	   0xd4000001u
#define ENTER_NS	   UINT64_C(2000000000) /* one instruction, and a place on a processor */
#define SYSCALL_STOP	   0x80 /* PTRACE_O_TRACESYSGOOD */
#define NR_RESTART_SYSCALL 128
#define FUTEX_FLAGS	   (FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)

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

/* Whether the thread was in this call, and stands `bytes` before the end of its instruction. */
static bool is_call(const struct trace_thread *t, uint64_t bytes)
{
	const struct user_regs_struct *r = &t->regs;

	return t->call.is_known && t->system.call < 0 && (long)r->regs[8] == t->call.number &&
	       r->pc == t->call.pc - bytes && r->sp == t->call.sp &&
	       memcmp(&r->regs[1], &t->call.arg[1],
		       (TRACE_CALL_ARGS - 1) * sizeof(t->call.arg[0])) == 0;
}

/* Whether its registers are those of a call that has returned EINTR: the one it was in before. */
static bool is_cut_off(const struct trace_thread *t)
{
	return t->call.number != SYS_close && (long)t->regs.regs[0] == -EINTR && is_call(t, 0);
}

static bool is_put_back(const struct trace_thread *t)
{
	return t->regs.regs[0] == t->call.arg[0] && is_call(t, SVC_BYTES);
}

void trace_restart_note(struct trace_thread *t, pid_t pid)
{
	bool cut_off = is_cut_off(t), put_back = is_put_back(t);
	long sleeps = 0;
	bool same = (cut_off || put_back) && sleeps_read(pid, t->tid, &sleeps) &&
		    sleeps == t->call.sleeps + 1;

	t->call.is_known = same && cut_off;
	t->call.is_put_back = same && put_back;
	t->call.is_left = false;
}

enum next {
	NEXT_OTHER,
	NEXT_CALL, /* the next instruction is a system call */
	NEXT_UNKNOWN,
};

static enum next next_read(pid_t tid, uint64_t pc)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)(pc & ~UINT64_C(7)), NULL);
	if (errno != 0)
		return NEXT_UNKNOWN;
	return ((uint32_t)((uint64_t)word >> (pc & 4) * 8) & SVC_MASK) == SVC_CODE ? NEXT_CALL
										   : NEXT_OTHER;
}

/* Whether such a call counts its time from its beginning, and the kernel resumes it by
 * NR_RESTART_SYSCALL: the kernel's users of restart_block. */
static bool has_relative_limit(const struct user_regs_struct *r)
{
	switch ((long)r->regs[8]) {
	case SYS_nanosleep:
		return true;
	case SYS_clock_nanosleep:
		return (r->regs[1] & TIMER_ABSTIME) == 0;
	case SYS_futex:
		return ((int)r->regs[1] & ~FUTEX_FLAGS) == FUTEX_WAIT && r->regs[3] != 0;
	default:
		return false;
	}
}

bool trace_restart_may(const struct trace_thread *t)
{
	return t->call.is_put_back || !has_relative_limit(&t->regs) ||
	       next_read(t->tid, t->regs.pc) == NEXT_OTHER;
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

/* Whether the thread is where this call enters the kernel. */
static bool has_entered(pid_t tid, const struct user_regs_struct *before, int status)
{
	struct user_regs_struct r;
	struct trace_system system;

	return (WSTOPSIG(status) & ~SYSCALL_STOP) == SIGTRAP && status >> 16 == 0 &&
	       trace_registers_read(tid, &r, &system) && r.pc == before->pc + SVC_BYTES &&
	       system.call == (long)before->regs[8];
}

/* A set of signals that the kernel shows of a thread, such as "SigCgt". All: unknown. */
static uint64_t signals_read(pid_t tid, const char *name)
{
	char path[64], line[16], *text;
	uint64_t set = ~UINT64_C(0);
	const char *p;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	snprintf(line, sizeof(line), "\n%s:", name);
	text = proc_file_read_all(path, &len);
	p = text ? strstr(text, line) : NULL;
	if (p)
		set = strtoull(p + strlen(line), NULL, 16);
	free(text);
	return set;
}

/* Whether the signal has a handler in the thread's program. True also if that is unknown. */
static bool is_caught(pid_t tid, int signal)
{
	return (signals_read(tid, "SigCgt") >> (signal - 1) & 1) != 0;
}

/* Lets the thread go back to the call. 0: it has entered it; -EINTR: it is not to, since a handler
 * comes first. Signals without a handler are delivered on the way. */
static int call_enter(struct trace_thread *t, const struct user_regs_struct *back)
{
	int status;

	for (;;) {
		if (t->signal != 0 && is_caught(t->tid, t->signal))
			return -EINTR;
		ptrace(PTRACE_SYSCALL, t->tid, NULL, (void *)(uintptr_t)(unsigned)t->signal);
		t->signal = 0;
		if (!stops_again(t->tid, &status) || has_entered(t->tid, back, status))
			return 0;
		if (status >> 16 != 0)
			return -EINTR;
		t->signal = WSTOPSIG(status);
	}
}

/* The same of a thread that was elsewhere, and takes the signals that have come meanwhile within
 * the call. If the viewer is killed meanwhile, all signals stay blocked in it. */
static void call_enter_again(struct trace_thread *t)
{
	uint64_t pending = signals_read(t->tid, "SigPnd") | signals_read(t->tid, "ShdPnd");
	int status;

	if (t->signal != 0 || (pending & ~t->call.mask) == 0 ||
		next_read(t->tid, t->now.pc) == NEXT_OTHER ||
		!trace_registers_mask_write(t->tid, ~UINT64_C(0)))
		return;
	ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL);
	if (stops_again(t->tid, &status) && !has_entered(t->tid, &t->now, status) &&
		status >> 16 == 0)
		t->signal = WSTOPSIG(status); /* SIGSTOP: it cannot be blocked */
	(void)trace_registers_mask_write(t->tid, t->call.mask);
}

void trace_restart_call(struct trace_thread *t)
{
	struct user_regs_struct back;

	if (t->call.is_left) /* its registers are set already */
		call_enter_again(t);
	trace_restart_registers(t, &back);
	if (t->call.is_left || !t->call.is_known) {
		t->call.is_left = t->call.is_known = false;
		return;
	}
	t->call.is_known = false;
	if (trace_registers_write(t->tid, &back) && call_enter(t, &back) != 0)
		(void)trace_registers_write(t->tid, &t->now);
}

void trace_restart_registers(const struct trace_thread *t, struct user_regs_struct *r)
{
	*r = t->regs;
	if (t->call.is_known) {
		r->regs[0] = t->call.arg[0];
		r->pc -= SVC_BYTES;
	} else if (t->call.is_put_back && has_relative_limit(r)) {
		r->regs[8] = NR_RESTART_SYSCALL;
	}
}

bool trace_restart_resumes(const struct trace_thread *t, const struct user_regs_struct *r)
{
	return r->regs[8] == NR_RESTART_SYSCALL && next_read(t->tid, r->pc) == NEXT_CALL;
}

bool trace_restart_return(struct trace_thread *t, uint64_t mask)
{
	trace_restart_registers(t, &t->now);
	t->call.is_left = true;
	t->call.mask = mask;
	return trace_registers_mask_write(t->tid, mask) && trace_registers_write(t->tid, &t->now);
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

bool trace_restart_may(const struct trace_thread *t)
{
	return false;
}

bool trace_restart_return(struct trace_thread *t, uint64_t mask)
{
	return false;
}

#endif
