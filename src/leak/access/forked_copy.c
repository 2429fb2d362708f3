/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copying a process (forked_copy.h). Sources: ptrace(2) on PTRACE_O_TRACECLONE; clone(2);
 * waitpid(2) on __WCLONE.
 *
 * The copy is a child that sends no signal when it ends (clone(2)), so the process's own calls
 * of wait(2) pass over it. It must be reaped, or a zombie stays. Whatever adopts orphans cannot
 * do that: in a container it is often a program that does not expect such children, reacts to
 * how they ended, or is the process itself. So the process reaps it: when the copy has given
 * back its memory, and we, who trace it, have kept its end from its parent so far, one thread is
 * stopped once more for a moment.
 */
#include "src/leak/access/forked_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/leak/access/headroom.h"
#include "src/leak/access/stub.h"
#include "src/proc/proc.h"

#define STEP_NS	    UINT64_C(5000000000) /* what takes microseconds on an idle machine */
#define STOPS_MAX   16u /* stops by signals before the copy has made its system call */
#define THREADS_MAX 16u /* that are tried to reap it */
#define TRIES_MAX   8u /* of the first of them, which may be about to take a signal */

static const char no_stub[] = "its library cannot make one";
static const char in_progress[] = "a copy is already in progress";

/* ---- whether ---- */

#ifdef __x86_64__

/* The options of a wait for children that a thread is in; 0: it is in none. */
static uint64_t wait_options(const struct trace_thread *t)
{
	return t->system.call == SYS_wait4    ? t->regs.rdx
	       : t->system.call == SYS_waitid ? t->regs.r10
					      : 0;
}

#elif defined(__aarch64__)

/* The same, or of one that it was in last: the kernel has forgotten when it stops (restart.c). */
static uint64_t wait_options(const struct trace_thread *t)
{
	return t->regs.regs[8] == SYS_wait4    ? t->regs.regs[2]
	       : t->regs.regs[8] == SYS_waitid ? t->regs.regs[3]
					       : 0;
}

#else

static uint64_t wait_options(const struct trace_thread *t)
{
	return 0;
}

#endif

/* Whether a thread waits for children of any kind, and so for the copy, too. */
static bool awaits_any(const struct trace_stop *stop)
{
	for (size_t i = 0; i < stop->count; i++)
		if (stop->thread[i].state == TRACE_THREAD_STOPPED &&
			(wait_options(&stop->thread[i]) & (uint32_t)(__WALL | __WCLONE)) != 0)
			return true;
	return false;
}

/* ---- making one ---- */

static void copy_kill(pid_t copy)
{
	kill(copy, SIGKILL);
	waitpid(copy, NULL, __WALL);
}

/* The new process, once it has stopped. 0: none. */
static pid_t cloned(const struct leak_stub *s)
{
	unsigned long fresh = 0;

	if (ptrace(PTRACE_GETEVENTMSG, s->thread->tid, NULL, &fresh) != 0 || fresh == 0)
		return 0;
	if (leak_stub_await(s->stop, (pid_t)fresh, STEP_NS) >= 0)
		return (pid_t)fresh;
	copy_kill((pid_t)fresh);
	return 0;
}

/* When memory gets short the kernel is to kill the copy, not the program. oom_score_adj belongs to
 * the memory, and the copy has its own. */
static bool oom_prefer(pid_t copy)
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

static bool options_set(pid_t copy)
{
	void *options = (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);

	return ptrace(PTRACE_SETOPTIONS, copy, NULL, options) == 0 && oom_prefer(copy);
}

static const char *clone_error(long rc)
{
	switch (-rc) {
	case EAGAIN:
		return "it may create no more processes";
	case ENOMEM:
		return "memory is short";
	default:
		return "its memory could not be copied";
	}
}

/* Runs the stub from the call of clone on. Without a copy the thread comes to its waitid by itself.
 * The status of its last stop. */
static int clone_run(struct leak_stub *s, struct leak_forked_copy *copy, const char **why)
{
	int status = leak_stub_step(s);

	if (leak_stub_is_call(status))
		status = leak_stub_step(s); /* the event, or the end of a failed clone */
	if (leak_stub_is_event(status, PTRACE_EVENT_CLONE)) {
		copy->pid = cloned(s);
		status = leak_stub_step(s); /* the end of clone */
	}
	if (!leak_stub_is_call(status))
		return status;
	if (copy->pid != 0 && options_set(copy->pid)) {
		s->area.copy = copy->inner = (uint64_t)leak_stub_result(s);
		*why = NULL;
		return status;
	}
	*why = clone_error(leak_stub_result(s));
	if (copy->pid != 0) {
		copy_kill(copy->pid);
		copy->pid = 0;
	}
	return leak_stub_call(s); /* waitid */
}

static const char *stub_run(struct leak_stub *s, struct leak_forked_copy *copy, bool *stuck)
{
	const char *why = "its registers cannot be set";
	int status;

	*stuck = !leak_stub_send(s, s->area.stub);
	if (*stuck)
		return why;
	why = clone_error(0);
	status = clone_run(s, copy, &why);
	*stuck = !leak_stub_return(s, status);
	return why;
}

/* ---- the end of one ---- */

enum reaped {
	REAPED,
	LIVES, /* it has not ended */
	UNREAPED,
};

/* Has the process reap `area.copy`. */
static enum reaped reap_run(struct leak_stub *s, bool *stuck)
{
	enum reaped result = UNREAPED;
	int status;

	*stuck = !leak_stub_send(s, s->area.reap);
	if (*stuck)
		return UNREAPED;
	status = leak_stub_call(s);
	if (leak_stub_is_call(status)) {
		long rc = leak_stub_result(s);

		result = rc == (long)s->area.copy || rc == -ECHILD ? REAPED
			 : rc == 0				   ? LIVES
								   : UNREAPED;
	}
	if (result == REAPED)
		s->area.copy = 0;
	*stuck = !leak_stub_return(s, status);
	return result;
}

/* Reaps the copy of a viewer that was killed, or that could not stop any thread then. */
static enum reaped tidy(struct leak_stub *s, bool *stuck)
{
	if (s->area.copy == 0)
		return REAPED;
	if ((int64_t)s->area.copy < 0 || leak_stub_choose(s))
		return UNREAPED;
	return reap_run(s, stuck);
}

bool leak_forked_copy_tidy(struct trace_stop *stop, uint64_t at, bool *stuck)
{
	struct leak_stub s;

	*stuck = false;
	return !leak_stub_open(&s, stop, at) || tidy(&s, stuck) == REAPED;
}

const char *leak_forked_copy_make(
	struct trace_stop *stop, uint64_t at, struct leak_forked_copy *copy, bool *stuck)
{
	struct leak_stub s;
	const char *why;

	*copy = (struct leak_forked_copy){ .of = stop->pid, .at = at };
	*stuck = false;
	if (!leak_stub_open(&s, stop, at))
		return no_stub;
	if (trace_stop_running(stop) > 0)
		return "some of its threads could not be stopped";
	if (leak_stub_is_busy(&s))
		return in_progress;
	if (awaits_any(stop))
		return "it waits for children of every kind";
	switch (tidy(&s, stuck)) {
	case REAPED:
		break;
	case LIVES:
		return in_progress;
	case UNREAPED:
		return "it could not reap an earlier copy";
	}
	why = leak_stub_choose(&s);
	if (why)
		return why;
	copy->tid = s.thread->tid;
	if (!leak_headroom_has_namespace(stop->pid, copy->tid))
		return LEAK_HEADROOM_NAMESPACE;
	return stub_run(&s, copy, stuck);
}

/* Runs the copy to the end of its next system call. */
static bool copy_call(pid_t copy)
{
	const struct trace_stop none = { 0 };
	unsigned calls = 0;

	for (unsigned i = 0; i < STOPS_MAX && calls < 2; i++) {
		int status = ptrace(PTRACE_SYSCALL, copy, NULL, NULL) == 0
				     ? leak_stub_await(&none, copy, STEP_NS)
				     : -1;

		if (status < 0)
			return false;
		calls += leak_stub_is_call(status);
	}
	return calls == 2;
}

bool leak_forked_copy_settle(const struct leak_forked_copy *copy)
{
	const struct sched_param ordinary = { 0 };
	struct user_regs_struct r;
	struct trace_system system;
	int class = sched_getscheduler(copy->pid);

	if (class == SCHED_FIFO || class == SCHED_RR)
		(void)sched_setscheduler(copy->pid, SCHED_OTHER, &ordinary);
	return copy_call(copy->pid) && /* its name */
	       copy_call(copy->pid) && trace_registers_read(copy->pid, &r, &system) &&
	       trace_registers_result(&r) == 0; /* its descriptors */
}

bool leak_forked_copy_alive(const struct leak_forked_copy *copy)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)copy->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       info.si_pid == 0;
}

/* The copy exits with 0, which is harmless if another process has become its parent. Its end is
 * still ours to report. */
static void copy_exit(pid_t copy)
{
	for (unsigned i = 0;; i++) {
		siginfo_t info = { 0 };

		if (i < STOPS_MAX)
			ptrace(PTRACE_CONT, copy, NULL, NULL);
		else
			kill(copy, SIGKILL);
		if (waitid(P_PID, (id_t)copy, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) != 0 ||
			info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			info.si_code == CLD_DUMPED)
			return;
		waitpid(copy, NULL, __WALL | WNOHANG); /* a stop */
	}
}

/* Reaps by one thread. Between our waitpid and its call the process has a visible zombie. */
static enum reaped reap_by(struct leak_forked_copy *copy, pid_t tid)
{
	enum reaped result = UNREAPED;
	struct trace_stop stop;
	struct leak_stub s;
	bool stuck;

	if (trace_stop_thread(&stop, copy->of, tid) != 0)
		return UNREAPED;
	if (leak_stub_open(&s, &stop, copy->at) && s.area.copy == copy->inner &&
		!leak_stub_choose(&s)) {
		waitpid(copy->pid, NULL, __WALL);
		result = reap_run(&s, &stuck);
	}
	trace_stop_release(&stop);
	return result;
}

/* Reaps by the first thread that can be borrowed. */
static bool reap(struct leak_forked_copy *copy)
{
	enum reaped result = UNREAPED;
	unsigned tries = 0;
	char path[64];
	struct dirent *d;
	DIR *dir;

	for (unsigned i = 0; i < TRIES_MAX && result == UNREAPED; i++)
		result = reap_by(copy, copy->tid);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)copy->of);
	dir = opendir(path);
	while (result == UNREAPED && dir && tries < THREADS_MAX && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid <= 0 || tid == copy->tid)
			continue;
		result = reap_by(copy, tid);
		tries++;
	}
	if (dir)
		closedir(dir);
	return result == REAPED;
}

bool leak_forked_copy_end(struct leak_forked_copy *copy)
{
	uint64_t ticks;
	bool done;

	if (copy->pid == 0)
		return true;
	copy_exit(copy->pid);
	done = reap(copy);
	waitpid(copy->pid, NULL, __WALL | WNOHANG); /* if the process has not reaped it */
	copy->pid = 0;
	return done || proc_start_ticks(copy->of, &ticks) != 0;
}
