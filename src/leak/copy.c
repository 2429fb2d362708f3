/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copying a process (copy.h). Source: ptrace(2) on PTRACE_O_TRACECLONE; clone(2).
 *
 * From the moment the thread is sent to the stub it finds its way back by itself if we are killed.
 * As long as we are not, it is led through the stub system call by system call and put back before
 * it leaves it: no signal reaches it there, and nothing of the program runs.
 */
#include "src/leak/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/copy.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define PAUSE_NS   20000 /* between two looks */
#define STEP_NS	   UINT64_C(5000000000) /* for what takes microseconds on an idle machine */
#define COPY_NS	   UINT64_C(20000000000) /* for copying the page tables: some 20 ms a GB */
#define USER_CODE  0x33 /* cs of a 64-bit program */
#define KERNEL_SET 8u /* bytes of a signal mask, as the kernel has it */
#define SYSCALL	   (SIGTRAP | 0x80) /* of PTRACE_O_TRACESYSGOOD */

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

#ifdef __x86_64__

struct making {
	struct leak_stop *stop;
	struct leak_thread *thread; /* that runs the stub */
	struct ht_copy area;
	uint64_t at;
	uint64_t mask; /* signals that it has blocked */
};

/* ---- whether ------------------------------------------------------------------------------- */

static bool status_number(pid_t tid, const char *name, bool last, long *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return proc_status_number(path, name, last, value);
}

/* A sandbox may kill for system calls that its program never makes. */
static bool has_filter(pid_t tid)
{
	long mode;

	return !status_number(tid, "\nSeccomp:", false, &mode) || mode != 0;
}

/* Orphans are children of the first process, and it may not know what to do with one. */
static bool is_first(pid_t pid)
{
	long number;

	return !status_number(pid, "\nNSpid:", true, &number) || number == 1;
}

/* Whether system calls of the stub would be another's to handle (Wine's). */
static bool is_dispatched(pid_t tid)
{
	uint64_t config[4] = { 0 };

	return ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid, (void *)sizeof(config),
		       config) == 0 &&
	       config[0] != 0;
}

static bool area_read(struct making *m)
{
	struct iovec here = { &m->area, sizeof(m->area) };
	struct iovec there = { (void *)(uintptr_t)m->at, sizeof(m->area) };

	return process_vm_readv(m->stop->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(m->area) &&
	       m->area.magic == HT_COPY_MAGIC && m->area.stub < m->area.stub_end;
}

static bool area_write(struct making *m)
{
	struct iovec here = { &m->area, sizeof(m->area) };
	struct iovec there = { (void *)(uintptr_t)m->at, sizeof(m->area) };

	return process_vm_writev(m->stop->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(m->area);
}

static bool in_stub(const struct making *m, const struct user_regs_struct *r)
{
	return r->rip >= m->area.stub && r->rip < m->area.stub_end;
}

/* The words of rseq(2) that say whether a thread is inside a sequence that must not be left. */
static bool is_in_sequence(const struct leak_thread *t)
{
	struct __ptrace_rseq_configuration c = { 0 };
	long word;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof(c), &c) < 0)
		return false; /* a kernel without it, or a thread */
	if (c.rseq_abi_pointer == 0)
		return false;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, t->tid, (void *)(uintptr_t)(c.rseq_abi_pointer + 8), NULL);
	return word != 0 || errno != 0;
}

/* One that stands still for us alone, at best in a system call. */
static struct leak_thread *thread_choose(const struct making *m)
{
	struct leak_thread *other = NULL;

	for (size_t i = 0; i < m->stop->count; i++) {
		struct leak_thread *t = &m->stop->thread[i];

		if (t->state != LEAK_THREAD_STOPPED || !t->held || t->regs.cs != USER_CODE ||
			has_filter(t->tid) || is_dispatched(t->tid))
			continue;
		if ((long)t->regs.orig_rax >= 0)
			return t;
		if (!other && !is_in_sequence(t))
			other = t;
	}
	return other;
}

/* Left behind by a viewer that was killed: it is on its way back. */
static bool is_being_copied(const struct making *m)
{
	for (size_t i = 0; i < m->stop->count; i++)
		if (m->stop->thread[i].state == LEAK_THREAD_STOPPED &&
			in_stub(m, &m->stop->thread[i].regs))
			return true;
	return false;
}

/* ---- how ----------------------------------------------------------------------------------- */

/* Waits until `pid` stops: its status; -1: it has ended, or not in time. The end of our own child
 * is its launcher's to take. */
static int stop_await(const struct making *m, pid_t pid, uint64_t ns)
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
			if (pid != m->stop->pid || !m->stop->is_child)
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

static bool is_event(int status, int event)
{
	return status >= 0 && status >> 8 == (SIGTRAP | event << 8);
}

static bool is_call(int status)
{
	return status >= 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SYSCALL;
}

/* Lets a process run until its end, which comes at once. */
static void end_await(const struct making *m, pid_t pid)
{
	ptrace(PTRACE_SETOPTIONS, pid, NULL, NULL);
	for (int status = 0; status >= 0; status = stop_await(m, pid, STEP_NS))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
}

/* The process that one has just cloned, once it has stopped. 0: none. */
static pid_t cloned(const struct making *m, pid_t pid)
{
	unsigned long fresh = 0;

	if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &fresh) != 0 || fresh == 0)
		return 0;
	if (stop_await(m, (pid_t)fresh, STEP_NS) >= 0)
		return (pid_t)fresh;
	kill((pid_t)fresh, SIGKILL);
	return 0;
}

/* When memory gets short the copy is to go, not the program. It has a memory of its own. */
static bool yields(pid_t copy)
{
	char path[64];
	int fd;
	bool done;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)copy);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, "1000", 4) == 4;
	if (fd >= 0)
		close(fd);
	return done;
}

/* The process in between makes the copy and ends. 0: it did not. */
static pid_t copy_take(const struct making *m, pid_t between)
{
	void *options = (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	pid_t copy = 0;

	if (ptrace(PTRACE_SETOPTIONS, between, NULL, options) == 0 &&
		ptrace(PTRACE_CONT, between, NULL, NULL) == 0 &&
		is_event(stop_await(m, between, COPY_NS), PTRACE_EVENT_CLONE))
		copy = cloned(m, between);
	if (copy == 0)
		kill(between, SIGKILL);
	end_await(m, between);
	if (copy != 0 && !yields(copy)) {
		leak_copy_end(copy);
		copy = 0;
	}
	return copy;
}

/* Points the thread at the stub: what the stub will need is there first, and signals wait last. */
static bool thread_send(struct making *m)
{
	struct leak_thread *t = m->thread;
	struct user_regs_struct r, stub = t->regs;
	void *options = (void *)(PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD);
	uint64_t all = ~UINT64_C(0);

	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)(uintptr_t)KERNEL_SET, &m->mask) != 0)
		return false;
	leak_stop_resumed(t, &r);
	m->area = (struct ht_copy){ .magic = HT_COPY_MAGIC,
		.stub = m->area.stub,
		.stub_end = m->area.stub_end,
		.mask = m->mask,
		.rip = r.rip,
		.rax = r.rax,
		.rbx = r.rbx,
		.rcx = r.rcx,
		.rdx = r.rdx,
		.rsi = r.rsi,
		.rdi = r.rdi,
		.rbp = r.rbp,
		.r8 = r.r8,
		.r9 = r.r9,
		.r10 = r.r10,
		.r11 = r.r11,
		.r12 = r.r12,
		.r13 = r.r13,
		.r14 = r.r14,
		.r15 = r.r15,
		.busy = 1,
		.reaper = 1 };
	stub.rip = m->area.stub;
	stub.orig_rax = (unsigned long)-1; /* no system call to go back to */
	if (!area_write(m) || ptrace(PTRACE_SETOPTIONS, t->tid, NULL, options) != 0 ||
		ptrace(PTRACE_SETREGS, t->tid, NULL, &stub) != 0)
		return false;
	return ptrace(PTRACE_SETSIGMASK, t->tid, (void *)(uintptr_t)KERNEL_SET, &all) == 0;
}

/* Lets the thread go to the next stop. */
static int thread_step(const struct making *m)
{
	pid_t tid = m->thread->tid;

	return ptrace(PTRACE_SYSCALL, tid, NULL, NULL) == 0 ? stop_await(m, tid, STEP_NS) : -1;
}

/* One system call of the stub from its entry to its end. The status of the last stop. */
static int call_step(const struct making *m)
{
	int status = thread_step(m);

	return is_call(status) ? thread_step(m) : status;
}

/*
 * Puts the thread back to where it was, before it has left the stub. It is stopped once more where
 * the kernel looks for signals, as it was stopped before: there the kernel itself sees to a system
 * call that is to be made again, or ends it for a signal that has come meanwhile.
 */
static bool thread_return(struct making *m, int status)
{
	struct leak_thread *t = m->thread;

	if (is_call(status) || is_event(status, PTRACE_EVENT_CLONE)) {
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		do {
			ptrace(PTRACE_CONT, t->tid, NULL, NULL);
			status = stop_await(m, t->tid, STEP_NS);
		} while (is_event(status, PTRACE_EVENT_CLONE));
	}
	if (status < 0) {
		t->state = LEAK_THREAD_GONE;
		return false;
	}
	/* SIGSTOP cannot be blocked: it is taken when the thread goes on. */
	t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	m->area.busy = 0;
	return ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs) == 0 &&
	       ptrace(PTRACE_SETSIGMASK, t->tid, (void *)(uintptr_t)KERNEL_SET, &m->mask) == 0 &&
	       ptrace(PTRACE_SETOPTIONS, t->tid, NULL, NULL) == 0 && area_write(m);
}

static const char *stub_run(struct making *m, pid_t *copy, bool *stuck)
{
	const char *why = "its memory could not be copied";
	int status;
	pid_t between;

	if (!thread_send(m)) {
		*stuck = true;
		return "its registers cannot be set";
	}
	status = call_step(m); /* prctl */
	if (is_call(status) && (!area_read(m) || m->area.reaper != 0)) {
		why = "orphans become its children";
	} else if (is_call(status)) {
		status = thread_step(m);
		if (is_call(status))
			status = thread_step(m); /* an event, or the end of a clone in vain */
		between = is_event(status, PTRACE_EVENT_CLONE) ? cloned(m, m->thread->tid) : 0;
		if (between != 0) {
			*copy = copy_take(m, between);
			status = thread_step(m); /* the end of clone */
			if (is_call(status))
				status = call_step(m); /* waitid */
		}
	}
	*stuck = !thread_return(m, status);
	return *copy != 0 ? NULL : why;
}

const char *leak_copy_make(struct leak_stop *stop, uint64_t at, pid_t *copy, bool *stuck)
{
	struct making m = { .stop = stop, .at = at };

	*copy = 0;
	*stuck = false;
	if (at == 0 || !area_read(&m))
		return "its library has no way to";
	if (has_filter(stop->pid))
		return "it has a seccomp filter";
	if (is_first(stop->pid))
		return "it is the first process of its namespace";
	if (leak_stop_running(stop) > 0)
		return "threads of it could not be stopped";
	if (m.area.busy != 0 || is_being_copied(&m))
		return "it is just being copied";
	m.thread = thread_choose(&m);
	if (!m.thread)
		return "no thread of it can be used";
	return stub_run(&m, copy, stuck);
}

bool leak_copy_alive(pid_t copy)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)copy, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       info.si_pid == 0;
}

void leak_copy_end(pid_t copy)
{
	kill(copy, SIGKILL);
	while (waitpid(copy, NULL, __WALL) == copy && kill(copy, 0) == 0)
		;
}

#else

const char *leak_copy_make(struct leak_stop *stop, uint64_t at, pid_t *copy, bool *stuck)
{
	*stuck = false;
	return "this machine has no way to";
}

bool leak_copy_alive(pid_t copy)
{
	return false;
}

void leak_copy_end(pid_t copy)
{
}

#endif
