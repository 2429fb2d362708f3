/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running a stub in another process (stub.h). Source: ptrace(2).
 *
 * Once the thread is pointed at the stub, it finds its own way back if we are killed. Otherwise
 * we step it through the stub, one system call at a time, and restore it before it leaves: no
 * signal reaches it there, and no code of the program runs.
 */
#include "src/leak/access/stub.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "src/leak/access/stub_state.h"
#include "src/proc/proc.h"
#include "src/trace/borrow.h"
#include "src/trace/restart.h"
#include "src/util/clock.h"

#define PAUSE_NS 20000 /* between two polls */
#define STEP_NS	 UINT64_C(20000000000) /* copying page tables takes some 20 ms per GB */
#define SYSCALL	 (SIGTRAP | 0x80) /* of PTRACE_O_TRACESYSGOOD */

/* ---- which thread ---- */

static bool in_stub(const struct leak_stub *s, const struct user_regs_struct *r)
{
	uint64_t pc = trace_registers_pc(r);

	return pc >= s->area.stub && pc < s->area.stub_end;
}

/* A thread that only we stopped, preferably in a system call. */
static struct trace_thread *thread_choose(const struct leak_stub *s)
{
	struct trace_thread *other = NULL;

	for (size_t i = 0; i < s->stop->count; i++) {
		struct trace_thread *t = &s->stop->thread[i];

		if (!trace_borrow_may(t, true))
			continue;
		if (trace_borrow_in_call(t))
			return t;
		if (!other)
			other = t;
	}
	return other;
}

bool leak_stub_is_busy(const struct leak_stub *s)
{
	if (s->area.busy != 0)
		return true;
	for (size_t i = 0; i < s->stop->count; i++)
		if (s->stop->thread[i].state == TRACE_THREAD_STOPPED &&
			in_stub(s, &s->stop->thread[i].regs))
			return true;
	return false;
}

const char *leak_stub_choose(struct leak_stub *s)
{
	if (trace_borrow_filtered(s->stop->pid))
		return "it has a seccomp filter";
	if (leak_stub_is_busy(s))
		return "a copy is already in progress";
	s->thread = thread_choose(s);
	return s->thread ? NULL : "none of its threads can be used";
}

/* ---- the area ---- */

static pid_t memory_tid(const struct leak_stub *s)
{
	return s->thread ? s->thread->tid : proc_memory_tid(s->stop->pid);
}

static bool area_read(struct leak_stub *s)
{
	struct iovec here = { &s->area, sizeof(s->area) };
	struct iovec there = { (void *)(uintptr_t)s->at, sizeof(s->area) };

	return process_vm_readv(memory_tid(s), &here, 1, &there, 1, 0) ==
		       (ssize_t)sizeof(s->area) &&
	       s->area.magic == HT_COPY_MAGIC && s->area.stub < s->area.reap &&
	       s->area.reap < s->area.stub_end;
}

static bool area_write(struct leak_stub *s)
{
	struct iovec here = { &s->area, sizeof(s->area) };
	struct iovec there = { (void *)(uintptr_t)s->at, sizeof(s->area) };

	return process_vm_writev(memory_tid(s), &here, 1, &there, 1, 0) == (ssize_t)sizeof(s->area);
}

bool leak_stub_open(struct leak_stub *s, struct trace_stop *stop, uint64_t at)
{
	*s = (struct leak_stub){ .stop = stop, .at = at };
	return at != 0 && area_read(s);
}

/* ---- stops ---- */

bool leak_stub_is_event(int status, int event)
{
	return status >= 0 && status >> 8 == (SIGTRAP | event << 8);
}

bool leak_stub_is_call(int status)
{
	return status >= 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SYSCALL;
}

/* The launcher reaps our own child. */
int leak_stub_await(const struct trace_stop *stop, pid_t pid, uint64_t ns)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t until = clock_monotonic_ns() + ns;
	int status = 0;

	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)pid, &info,
			    WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
			return -1;
		if (info.si_pid != 0 && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
						info.si_code == CLD_DUMPED)) {
			if (pid != stop->pid || !stop->is_child)
				waitpid(pid, &status, __WALL | WNOHANG);
			return -1;
		}
		if (info.si_pid != 0)
			return waitpid(pid, &status, __WALL | WNOHANG) == pid ? status : -1;
		if (clock_monotonic_ns() > until)
			return -1;
		nanosleep(&pause, NULL);
	}
}

int leak_stub_step(const struct leak_stub *s)
{
	pid_t tid = s->thread->tid;

	return ptrace(PTRACE_SYSCALL, tid, NULL, NULL) == 0 ? leak_stub_await(s->stop, tid, STEP_NS)
							    : -1;
}

int leak_stub_call(const struct leak_stub *s)
{
	int status = leak_stub_step(s);

	return leak_stub_is_call(status) ? leak_stub_step(s) : status;
}

long leak_stub_result(const struct leak_stub *s)
{
	struct user_regs_struct r;
	struct trace_system system;

	return trace_registers_read(s->thread->tid, &r, &system) ? trace_registers_result(&r)
								 : -ESRCH;
}

/* ---- there and back ---- */

/* The area is written first, and signals are blocked after that. Only then it is busy: if we are
 * killed, a thread that runs the stub must be there to say when it is not any more. */
bool leak_stub_send(struct leak_stub *s, uint64_t entry)
{
	struct trace_thread *t = s->thread;
	struct user_regs_struct stub = t->regs;
	void *options = (void *)(PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD);

	if (!trace_registers_mask_read(t->tid, &s->mask) ||
		!leak_stub_state(t, s->mask, &s->area.state))
		return false;
	s->area.busy = 0;
	trace_registers_divert(&stub, entry);
	if (!area_write(s) || ptrace(PTRACE_SETOPTIONS, t->tid, NULL, options) != 0 ||
		!trace_registers_write(t->tid, &stub))
		return false;
	s->area.busy = 1;
	return trace_registers_mask_write(t->tid, ~UINT64_C(0)) && area_write(s);
}

/*
 * The thread is stopped once more where the kernel checks for signals, as it was stopped before.
 * There the kernel itself restarts an interrupted system call, or ends it for a signal that has
 * come meanwhile.
 */
bool leak_stub_return(struct leak_stub *s, int status)
{
	struct trace_thread *t = s->thread;

	if (leak_stub_is_call(status) || leak_stub_is_event(status, PTRACE_EVENT_CLONE)) {
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		do {
			ptrace(PTRACE_CONT, t->tid, NULL, NULL);
			status = leak_stub_await(s->stop, t->tid, STEP_NS);
		} while (leak_stub_is_event(status, PTRACE_EVENT_CLONE));
	}
	if (status < 0) {
		t->state = TRACE_THREAD_GONE;
		return false;
	}
	/* SIGSTOP cannot be blocked: the thread takes it when it goes on. */
	t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	s->area.busy = 0;
	return area_write(s) && trace_restart_return(t, s->mask) &&
	       ptrace(PTRACE_SETOPTIONS, t->tid, NULL, NULL) == 0;
}
