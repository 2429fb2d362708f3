/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stopping a process (stop.h). Source: ptrace(2), "Attaching and detaching" and "Stopped
 * states".
 */
#include "src/trace/stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/proc/proc.h"
#include "src/trace/restart.h"
#include "src/util/clock.h"
#include "src/util/shortage.h"

/* Threads stop within microseconds. One that takes longer sleeps uninterruptibly, or waits for a
 * processor; the latter will stop, and what it does till then is not missed. */
#define STOP_TIMEOUT_NS UINT64_C(200000000)
#define STARVED_NS	UINT64_C(2000000000)
#define PAUSE_NS	20000 /* between two polls */
#define GO_NS		100000 /* for a thread to leave a hook: some hundred times what that takes */
#define VECTORS_MAX	16384u /* the size of XSAVE's area: some 11 KB with AVX-512 and AMX */

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

static void pause_ns(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static struct trace_thread *thread_find(const struct trace_stop *s, pid_t tid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].tid == tid)
			return &s->thread[i];
	return NULL;
}

/* ---- letting go ---- */

uint64_t trace_stop_thread_pointer(const struct trace_thread *t)
{
	return t->system.pointer;
}

static void thread_go(struct trace_stop *s, struct trace_thread *t, bool for_good)
{
	if (t->state == TRACE_THREAD_STOPPED)
		trace_restart_call(t);
	ptrace(for_good ? PTRACE_DETACH : PTRACE_CONT, t->tid, NULL,
		(void *)(uintptr_t)(unsigned)t->signal);
	t->signal = 0;
}

/* ---- stopping ---- */

/* Reaps a thread that we trace. The launcher reaps our own child. */
static void exit_reap(struct trace_stop *s, struct trace_thread *t)
{
	t->state = TRACE_THREAD_GONE;
	if (t->tid != s->pid || !s->is_child)
		waitpid(t->tid, NULL, __WALL | WNOHANG);
}

/* False: it is no longer stopped; it was killed, and is on its way to its end. */
static bool registers_read(const struct trace_stop *s, struct trace_thread *t)
{
	struct iovec io = { .iov_len = VECTORS_MAX };

	errno = 0;
	if (!trace_registers_read(t->tid, &t->regs, &t->system) && errno == ESRCH)
		return false;
	trace_restart_note(t, s->pid);
	t->now = t->regs;
	if (!t->vectors)
		t->vectors = malloc(VECTORS_MAX);
	io.iov_base = t->vectors;
	t->vector_bytes = 0;
	/* A processor without XSAVE has the layout of FXSAVE. */
	if (t->vectors && (ptrace(PTRACE_GETREGSET, t->tid, NT_X86_XSTATE, &io) == 0 ||
				  ptrace(PTRACE_GETREGSET, t->tid, NT_PRFPREG, &io) == 0))
		t->vector_bytes = io.iov_len;
	return true;
}

/* Whether a seized thread has stopped or ended. */
void trace_stop_poll(struct trace_stop *s, struct trace_thread *t)
{
	siginfo_t info = { 0 };
	int status;

	if (waitid(P_PID, (id_t)t->tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) !=
		0) {
		if (errno == ECHILD)
			t->state = TRACE_THREAD_GONE;
		return;
	}
	if (info.si_pid == 0)
		return;
	if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		info.si_code == CLD_DUMPED) {
		exit_reap(s, t);
		return;
	}
	if (waitpid(t->tid, &status, __WALL | WNOHANG) != t->tid || !WIFSTOPPED(status))
		return;
	if (!registers_read(s, t))
		return; /* its next stop, if it has one, is that of its end */
	t->state = TRACE_THREAD_STOPPED;
	t->event = status >> 16;
	/* It stopped before taking a signal, which it gets when it is resumed. */
	t->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	t->held = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

size_t trace_stop_running(const struct trace_stop *s)
{
	size_t running = 0;

	for (size_t i = 0; i < s->count; i++)
		running += s->thread[i].state == TRACE_THREAD_RUNS ||
			   s->thread[i].state == TRACE_THREAD_UNSEIZED;
	return running;
}

/* What kills one of its threads kills them all, but does not wake one that is at its end: all have
 * to answer. */
bool trace_stop_stands(const struct trace_stop *s)
{
	unsigned long message;
	size_t gone = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->thread[i].state == TRACE_THREAD_STOPPED &&
			ptrace(PTRACE_GETEVENTMSG, s->thread[i].tid, NULL, &message) != 0)
			return false;
		gone += s->thread[i].state == TRACE_THREAD_GONE;
	}
	return s->count == 0 || gone < s->count;
}

bool trace_stop_is_killed(const struct trace_thread *t)
{
	siginfo_t info = { 0 };

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info) != 0)
		return errno == ESRCH;
	return info.si_signo == SIGTRAP && info.si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

/* As in /proc/PID/task/TID/stat; 'X': there is no such thread. */
char trace_stop_state(const struct trace_stop *s, pid_t tid)
{
	char path[64], text[1024];
	struct proc_reading r = { 0 };
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)s->pid, (int)tid);
	got = proc_file_read(path, text, sizeof(text));
	return got <= 0 || proc_parse_stat(text, (size_t)got, &r) != 0 ? 'X' : r.state;
}

static bool is_zombie(const struct trace_stop *s, pid_t tid)
{
	char state = trace_stop_state(s, tid);

	return state == 'Z' || state == 'X';
}

/* Whether to wait on: not for a thread that sleeps uninterruptibly. The next poll sees one that has
 * stopped since the last. */
static bool is_worth_waiting(const struct trace_stop *s)
{
	uint64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < s->count && now > s->deadline_ns && now <= s->starved_ns; i++)
		if (s->thread[i].state == TRACE_THREAD_RUNS &&
			trace_stop_state(s, s->thread[i].tid) != 'D')
			return true;
	return now <= s->deadline_ns;
}

/* Waits for all threads that were interrupted. */
static void threads_wait(struct trace_stop *s)
{
	for (;;) {
		bool waits = false;

		for (size_t i = 0; i < s->count; i++) {
			if (s->thread[i].state == TRACE_THREAD_RUNS)
				trace_stop_poll(s, &s->thread[i]);
			waits |= s->thread[i].state == TRACE_THREAD_RUNS;
		}
		if (!waits || !is_worth_waiting(s))
			return;
		pause_ns(PAUSE_NS);
	}
}

static void interrupt(const struct trace_stop *s, struct trace_thread *t)
{
	trace_restart_before(t, s->pid);
	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

/* 1; 0: it has ended; or -errno. */
static int thread_seize(struct trace_stop *s, pid_t tid)
{
	struct trace_thread *t = realloc(s->thread, (s->count + 1) * sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	s->thread = t;
	t += s->count;
	*t = (struct trace_thread){ .tid = tid };
	rc = ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ? -errno : 0;
	if (rc == -ESRCH || (rc != 0 && is_zombie(s, tid)))
		return 0;
	s->count++;
	if (rc != 0)
		t->state = TRACE_THREAD_UNSEIZED;
	else
		interrupt(s, t);
	return rc != 0 ? rc : 1;
}

/* Has `add` take new threads: 1: it did. Returns how many, or the last error if it took none. */
static int threads_add(struct trace_stop *s, int (*add)(struct trace_stop *s, pid_t tid))
{
	char path[64];
	struct dirent *d;
	int fresh = 0, rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid <= 0 || thread_find(s, tid))
			continue;
		rc = add(s, tid);
		fresh += rc > 0;
		if (rc < 0 && s->count <= 1)
			break;
	}
	closedir(dir);
	return fresh == 0 && rc < 0 ? rc : fresh;
}

/* Repeats until two listings in a row have no new thread. */
static int threads_stop(struct trace_stop *s)
{
	int clean = 0;
	uint64_t now;

	s->whole = false;
	while (clean < 2) {
		int rc = threads_add(s, thread_seize);

		if (rc < 0 && (s->count <= 1 || shortage_is(rc)))
			return rc;
		threads_wait(s);
		clean = rc > 0 ? 0 : clean + 1;
		/* Threads that wait for a processor have stopped by now, or never will. */
		now = clock_monotonic_ns();
		if (now > s->starved_ns || (now > s->deadline_ns && trace_stop_running(s) > 0))
			break;
	}
	s->whole = clean >= 2 && trace_stop_running(s) == 0;
	return 0;
}

/* ---- why not ---- */

pid_t trace_stop_tracer(pid_t pid)
{
	char path[64], text[4096];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (proc_file_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strstr(text, "\nTracerPid:");
	return p ? (pid_t)strtol(p + strlen("\nTracerPid:"), NULL, 10) : 0;
}

static int refusal(pid_t pid, int rc, const char *done, char *message)
{
	pid_t tracer = trace_stop_tracer(pid);

	if (rc == -ESRCH)
		snprintf(message, TRACE_MESSAGE_MAX, "process %d cannot be %s: it has ended",
			(int)pid, done);
	else if (shortage_is(rc))
		snprintf(message, TRACE_MESSAGE_MAX,
			"process %d cannot be %s: its threads cannot be listed: %s", (int)pid, done,
			strerror(-rc));
	else if (tracer > 0)
		snprintf(message, TRACE_MESSAGE_MAX,
			"process %d cannot be %s: it is traced by %d (a debugger "
			"or strace; end that first)",
			(int)pid, done, (int)tracer);
	else
		snprintf(message, TRACE_MESSAGE_MAX,
			"process %d cannot be %s: no permission to stop it (ptrace: %s; run "
			"heaptop "
			"as root, or start the program with it)",
			(int)pid, done, strerror(-rc));
	return rc;
}

static bool is_our_child(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void stop_begin(struct trace_stop *s, pid_t pid)
{
	/* Sleeps of some microseconds take 50 more by default. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	*s = (struct trace_stop){ .pid = pid, .is_child = is_our_child(pid) };
}

static void timeouts_start(struct trace_stop *s)
{
	s->deadline_ns = clock_monotonic_ns() + STOP_TIMEOUT_NS;
	s->starved_ns = s->deadline_ns + STARVED_NS;
}

static int stop_all(struct trace_stop *s, pid_t pid, const char *done, char *message)
{
	int rc = threads_stop(s);

	if (rc == 0 && s->count == 0)
		rc = -ESRCH;
	if (rc == 0)
		return 0;
	refusal(pid, rc, done, message);
	trace_stop_release(s);
	return rc;
}

int trace_stop(struct trace_stop *s, pid_t pid, const char *done, char *message)
{
	stop_begin(s, pid);
	timeouts_start(s);
	return stop_all(s, pid, done, message);
}

int trace_stop_within(struct trace_stop *s, pid_t pid, uint64_t ns, const char *done, char *message)
{
	stop_begin(s, pid);
	s->deadline_ns = s->starved_ns = clock_monotonic_ns() + ns;
	return stop_all(s, pid, done, message);
}

int trace_stop_thread(struct trace_stop *s, pid_t pid, pid_t tid)
{
	stop_begin(s, pid);
	timeouts_start(s);
	if (thread_seize(s, tid) > 0)
		threads_wait(s);
	if (s->count == 1 && s->thread[0].state == TRACE_THREAD_STOPPED)
		return 0;
	trace_stop_release(s);
	return -ESRCH;
}

size_t trace_stop_retry(
	struct trace_stop *s, bool (*is_busy)(void *ctx, const struct trace_thread *t), void *ctx)
{
	size_t busy = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t->state != TRACE_THREAD_STOPPED || !is_busy(ctx, t))
			continue;
		busy++;
		thread_go(s, t, false);
		t->state = TRACE_THREAD_RUNS;
	}
	if (busy == 0)
		return 0;
	pause_ns(GO_NS);
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].state == TRACE_THREAD_RUNS)
			interrupt(s, &s->thread[i]);
	timeouts_start(s);
	threads_stop(s); /* they may have created new threads */
	return busy;
}

int trace_stop_trace(struct trace_stop *s, unsigned long options)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t->state != TRACE_THREAD_STOPPED || t->reports)
			continue;
		if (ptrace(PTRACE_SETOPTIONS, t->tid, NULL, options) != 0 && errno != ESRCH)
			return -errno;
		t->reports = true;
	}
	return 0;
}

void trace_stop_resume(struct trace_stop *s, struct trace_thread *t)
{
	t->state = TRACE_THREAD_RUNS;
	/* A job-control stop lasts until SIGCONT (ptrace(2), LISTEN). The stop at its end is not to
	 * be taken for the one that is resumed. */
	if (t->event == PTRACE_EVENT_STOP && t->signal == 0 && !t->held)
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	else if (t->event == PTRACE_EVENT_EXIT || !trace_stop_is_killed(t))
		thread_go(s, t, false);
}

/* 1 or -ENOMEM. */
static int traced_add(struct trace_stop *s, pid_t tid)
{
	struct trace_thread *t = realloc(s->thread, (s->count + 1) * sizeof(*t));

	if (!t)
		return -ENOMEM;
	s->thread = t;
	s->thread[s->count++] = (struct trace_thread){ .tid = tid };
	return 1;
}

int trace_stop_add_child(struct trace_stop *s, const struct trace_thread *parent)
{
	unsigned long tid;
	int rc;

	/* A parent that was killed since has another message. */
	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid) != 0 ||
		trace_stop_is_killed(parent))
		rc = threads_add(s, traced_add);
	else
		rc = thread_find(s, (pid_t)tid) ? 0 : traced_add(s, (pid_t)tid);
	return rc < 0 ? rc : 0;
}

void trace_stop_keep(struct trace_stop *s, const struct trace_thread *kept)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (t == kept)
			continue;
		if (t->state == TRACE_THREAD_RUNS)
			trace_stop_poll(s, t);
		if (t->state != TRACE_THREAD_STOPPED)
			continue;
		thread_go(s, t, true);
		t->state = TRACE_THREAD_GONE;
	}
}

void trace_stop_detach(struct trace_stop *s)
{
	for (size_t i = 0; i < s->count && !s->detached; i++) {
		/* A thread that stopped too late has a call to restart, like the others. */
		if (s->thread[i].state == TRACE_THREAD_RUNS)
			trace_stop_poll(s, &s->thread[i]);
		if (s->thread[i].state == TRACE_THREAD_STOPPED)
			thread_go(s, &s->thread[i], true);
	}
	s->detached = true;
}

void trace_stop_release(struct trace_stop *s)
{
	trace_stop_detach(s);
	for (size_t i = 0; i < s->count; i++)
		free(s->thread[i].vectors);
	free(s->thread);
	*s = (struct trace_stop){ 0 };
}
