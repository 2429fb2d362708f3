/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copying a process (copy.h). Source: ptrace(2) on PTRACE_O_TRACECLONE; clone(2).
 *
 * From the moment the thread is sent to the stub it finds its way back by itself, whatever becomes
 * of us. Before, nothing of it was changed: so it does not matter when we are killed.
 */
#include "src/leak/copy.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "shm/copy.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define PAUSE_NS   20000 /* between two looks */
#define STEP_NS	   UINT64_C(200000000) /* for what takes microseconds */
#define RETURN_NS  UINT64_C(5000000000) /* for the way back of a thread that gets no processor */
#define GO_MAX_NS  10000000
#define COPY_NS	   UINT64_C(10000000000) /* for copying the page tables: some 20 ms a GB */
#define USER_CODE  0x33 /* cs of a 64-bit program */
#define KERNEL_SET 8u /* bytes of a signal mask, as the kernel has it */

#ifdef __x86_64__

struct making {
	struct leak_stop *stop;
	struct leak_thread *thread; /* that runs the stub */
	struct ht_copy area;
	uint64_t at;
	pid_t between; /* the process in between; 0: not there, or gone */
	int signal; /* that came meanwhile, and could not be blocked; 0: none */
};

/* ---- whether ------------------------------------------------------------------------------- */

/* A sandbox may kill for system calls that its program never makes. */
static bool has_filter(pid_t pid)
{
	char path[64], text[4096];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (proc_slurp(path, text, sizeof(text)) <= 0)
		return true;
	p = strstr(text, "\nSeccomp:");
	return !p || strtol(p + strlen("\nSeccomp:"), NULL, 10) != 0;
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

		if (t->state != LEAK_THREAD_STOPPED || !t->held || t->regs.cs != USER_CODE)
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

/* Waits until `pid` stops or ends. False: not in time. */
static bool await(pid_t pid, int *status, uint64_t ns)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t until = clock_monotonic_ns() + ns;

	for (;;) {
		pid_t got = waitpid(pid, status, __WALL | WNOHANG);

		if (got == pid)
			return true;
		if (got < 0 || clock_monotonic_ns() > until)
			return false;
		nanosleep(&pause, NULL);
	}
}

static bool is_cloned(int status)
{
	return status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8);
}

/* Lets `pid` go until it has cloned, and waits for the new one. 0: it did not. */
static pid_t clone_await(struct making *m, pid_t pid, uint64_t ns, int *status)
{
	unsigned long fresh = 0;
	int stopped;

	do {
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) != 0 || !await(pid, status, ns) ||
			!WIFSTOPPED(*status))
			return 0;
		if (*status >> 16 == 0)
			m->signal = WSTOPSIG(*status);
	} while (!is_cloned(*status));
	if (ptrace(PTRACE_GETEVENTMSG, pid, NULL, &fresh) != 0)
		return 0;
	return await((pid_t)fresh, &stopped, STEP_NS) && WIFSTOPPED(stopped) ? (pid_t)fresh : 0;
}

/* Points the thread at the stub: what the stub will need is there first, and signals wait last. */
static bool thread_send(struct making *m)
{
	struct leak_thread *t = m->thread;
	struct user_regs_struct r, stub = t->regs;
	uint64_t mask, all = ~UINT64_C(0);

	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)(uintptr_t)KERNEL_SET, &mask) != 0)
		return false;
	leak_stop_resumed(t, &r);
	m->area = (struct ht_copy){ .magic = HT_COPY_MAGIC,
		.stub = m->area.stub,
		.stub_end = m->area.stub_end,
		.mask = mask,
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
		.r15 = r.r15 };
	stub.rip = m->area.stub;
	stub.orig_rax = (unsigned long)-1; /* no system call to go back to */
	if (!area_write(m) ||
		ptrace(PTRACE_SETOPTIONS, t->tid, NULL, (void *)PTRACE_O_TRACECLONE) != 0 ||
		ptrace(PTRACE_SETREGS, t->tid, NULL, &stub) != 0)
		return false;
	ptrace(PTRACE_SETSIGMASK, t->tid, (void *)(uintptr_t)KERNEL_SET, &all);
	return true;
}

/*
 * Stops the thread again, once it is back where it was. Stopped too often it would never get there,
 * and let go it must not be: it is traced, and its next signal would wait for us.
 */
static bool thread_return(struct making *m)
{
	struct leak_thread *t = m->thread;
	uint64_t until = clock_monotonic_ns() + RETURN_NS;
	struct timespec go = { .tv_nsec = PAUSE_NS };
	int status;

	while (clock_monotonic_ns() < until) {
		nanosleep(&go, NULL);
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		if (!await(t->tid, &status, RETURN_NS) || !WIFSTOPPED(status) ||
			ptrace(PTRACE_GETREGS, t->tid, NULL, &t->now) != 0)
			break;
		t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
		t->state = LEAK_THREAD_STOPPED;
		if (!in_stub(m, &t->now))
			return true;
		ptrace(PTRACE_CONT, t->tid, NULL, (void *)(uintptr_t)(unsigned)t->signal);
		t->state = LEAK_THREAD_RUNS;
		if (go.tv_nsec < GO_MAX_NS)
			go.tv_nsec *= 2;
	}
	return false;
}

/* The process in between makes the copy and ends. 0 and why not. */
static pid_t copy_await(struct making *m, const char **why)
{
	void *options = (void *)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	int status = 0;
	pid_t copy;

	*why = "its memory could not be copied";
	ptrace(PTRACE_SETOPTIONS, m->between, NULL, options);
	copy = clone_await(m, m->between, COPY_NS, &status);
	if (copy == 0 && WIFEXITED(status) && WEXITSTATUS(status) == ENOMEM)
		*why = "there is no memory for a copy";
	if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		if (copy == 0)
			kill(m->between, SIGKILL);
		ptrace(PTRACE_CONT, m->between, NULL, NULL);
		await(m->between, &status, STEP_NS);
	}
	return copy;
}

static const char *stub_run(struct making *m, pid_t *copy)
{
	const char *why = "its memory could not be copied";
	int status;

	if (!thread_send(m))
		return "its registers cannot be set";
	m->between = clone_await(m, m->thread->tid, STEP_NS, &status);
	m->thread->state = LEAK_THREAD_RUNS;
	if (m->between != 0) {
		ptrace(PTRACE_CONT, m->thread->tid, NULL, NULL);
		*copy = copy_await(m, &why);
	}
	if (!thread_return(m) && *copy == 0)
		return why;
	return *copy != 0 ? NULL : why;
}

const char *leak_copy_make(struct leak_stop *stop, uint64_t at, pid_t *copy)
{
	struct making m = { .stop = stop, .at = at };
	const char *why;

	*copy = 0;
	if (at == 0 || !area_read(&m))
		return "its library has no way to";
	if (has_filter(stop->pid))
		return "it has a seccomp filter";
	if (leak_stop_running(stop) > 0)
		return "threads of it could not be stopped";
	if (is_being_copied(&m))
		return "it is just being copied";
	m.thread = thread_choose(&m);
	if (!m.thread)
		return "no thread of it can be used";
	why = stub_run(&m, copy);
	if (m.signal != 0)
		kill(stop->pid, m.signal);
	return why;
}

void leak_copy_end(pid_t copy)
{
	int status;

	kill(copy, SIGKILL);
	await(copy, &status, STEP_NS);
}

#else

const char *leak_copy_make(struct leak_stop *stop, uint64_t at, pid_t *copy)
{
	return "this machine has no way to";
}

void leak_copy_end(pid_t copy)
{
}

#endif
