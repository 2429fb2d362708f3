/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last instant of a process (exit_stop.h). */
#include "src/leak/access/exit_stop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"

/* Destructors mostly end at once. A program that takes longer is polled less often. */
#define SOON_NS	   UINT64_C(20000000)
#define PAUSE_SOON 50000
#define PAUSE_LATE 2000000
/* Threads that exit_group kills stop at once, unless they wait for a processor or sleep
 * uninterruptibly. */
#define OTHERS_NS UINT64_C(2200000000)

#define REPORTED (PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

struct leaving {
	struct trace_stop *stop;
	uint64_t last_ns; /* when the first thread was at its end; 0: none is */
	bool exec;
	int rc;
};

static void pause_since(uint64_t since_ns)
{
	const struct timespec t = {
		.tv_nsec = clock_monotonic_ns() - since_ns < SOON_NS ? PAUSE_SOON : PAUSE_LATE
	};

	nanosleep(&t, NULL);
}

static bool at_exit(const struct trace_thread *t)
{
	return t->state == TRACE_THREAD_STOPPED && t->event == PTRACE_EVENT_EXIT;
}

/* The system call that ended the thread; -1: it was killed. */
static long call_of(const struct trace_thread *t)
{
	return t->system.call;
}

/* Whether a thread will not stop any more. */
static bool is_dead(const struct trace_stop *s, const struct trace_thread *t)
{
	char state;

	if (t->state == TRACE_THREAD_GONE || t->leaving)
		return true;
	state = t->state == TRACE_THREAD_STOPPED ? 't' : trace_stop_state(s, t->tid);
	return state == 'Z' || state == 'X';
}

/* ---- what a thread stopped for ---- */

/* Whether another thread than `t` still runs or could. */
static bool others_live(const struct trace_stop *s, const struct trace_thread *t)
{
	for (size_t i = 0; i < s->count; i++)
		if (&s->thread[i] != t && !is_dead(s, &s->thread[i]))
			return true;
	return false;
}

static void stop_take(struct leaving *l, size_t i)
{
	struct trace_thread *t = &l->stop->thread[i];

	switch (t->event) {
	case PTRACE_EVENT_EXIT:
		if (call_of(t) != SYS_exit || !others_live(l->stop, t))
			return; /* it stays */
		t->leaving = true;
		break;
	case PTRACE_EVENT_CLONE:
		if (l->rc == 0)
			l->rc = trace_stop_add_child(l->stop, t);
		t = &l->stop->thread[i]; /* the array may have moved */
		break;
	case PTRACE_EVENT_EXEC:
		l->exec = true;
		break;
	default:
		break;
	}
	trace_stop_resume(l->stop, t);
}

static void stops_take(struct leaving *l)
{
	struct trace_stop *s = l->stop;

	for (size_t i = 0; i < s->count; i++) {
		if (s->thread[i].state != TRACE_THREAD_RUNS)
			continue;
		trace_stop_poll(s, &s->thread[i]);
		if (s->thread[i].state != TRACE_THREAD_STOPPED)
			continue;
		/* Sets the options of a thread that could not be stopped before, such as a parent
		 * in vfork. */
		(void)trace_stop_trace(s, REPORTED);
		stop_take(l, i);
	}
}

/* ---- where the whole process is ---- */

/* A thread in exec waits for all others to end, so these must not be held. */
static bool is_in_exec(const struct trace_stop *s, pid_t tid)
{
	char path[64], text[128];
	long call;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)s->pid, (int)tid);
	if (proc_file_read(path, text, sizeof(text)) <= 0)
		return false;
	call = strtol(text, NULL, 10);
	return call == SYS_execve || call == SYS_execveat;
}

struct standing {
	size_t ends, runs;
	bool group; /* one has called exit_group */
	bool exec; /* one waits in exec */
};

static struct standing standing_of(const struct trace_stop *s)
{
	struct standing n = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		const struct trace_thread *t = &s->thread[i];

		if (at_exit(t)) {
			n.ends++;
			n.group |= call_of(t) == SYS_exit_group;
		} else if (!is_dead(s, t)) {
			n.runs++;
		}
	}
	for (size_t i = 0; n.ends > 0 && n.runs > 0 && !n.group && i < s->count; i++)
		n.exec |=
			s->thread[i].state == TRACE_THREAD_RUNS && is_in_exec(s, s->thread[i].tid);
	return n;
}

static void ends_release(struct leaving *l)
{
	for (size_t i = 0; i < l->stop->count; i++) {
		if (!at_exit(&l->stop->thread[i]))
			continue;
		l->stop->thread[i].leaving = true;
		trace_stop_resume(l->stop, &l->stop->thread[i]);
	}
	l->last_ns = 0;
}

/* Whether no other thread is worth waiting for. */
static bool is_last(struct leaving *l, const struct standing *n)
{
	uint64_t now = clock_monotonic_ns();

	if (n->ends == 0)
		return false;
	if (l->last_ns == 0)
		l->last_ns = now;
	if (n->runs == 0)
		return true;
	if (n->exec || (!n->group && now - l->last_ns > OTHERS_NS))
		ends_release(l);
	return n->group && now - l->last_ns > OTHERS_NS;
}

/* The thread that ended the process: by exit_group, or as the last one. */
static pid_t last_of(const struct trace_stop *s)
{
	pid_t last = 0;

	for (size_t i = 0; i < s->count; i++)
		if (at_exit(&s->thread[i]) &&
			(last == 0 || call_of(&s->thread[i]) == SYS_exit_group))
			last = s->thread[i].tid;
	return last;
}

static int leave_await(struct leaving *l, struct leak_progress *progress)
{
	uint64_t since_ns = clock_monotonic_ns();

	for (;;) {
		struct standing n;

		stops_take(l);
		if (l->exec)
			return -ESTALE;
		n = standing_of(l->stop);
		if (l->rc != 0 || is_last(l, &n))
			return l->rc;
		if (n.runs == 0 && n.ends == 0)
			return -ESRCH;
		if (progress && progress->cancelled)
			return -ECANCELED;
		pause_since(since_ns);
	}
}

/*
 * Threads that have ended. One that we did not see at its end was killed there, after it had ended
 * by itself; or between our asking whether it was killed and its resumption, which came when it had
 * stopped at its end. So its registers are not known.
 */
static void ended_note(struct trace_stop *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct trace_thread *t = &s->thread[i];

		if (at_exit(t) || !is_dead(s, t))
			continue;
		if (t->state == TRACE_THREAD_RUNS)
			trace_stop_poll(s, t); /* reaps it */
		t->state = t->leaving ? TRACE_THREAD_GONE : TRACE_THREAD_UNSEIZED;
	}
}

int leak_exit_stop(struct trace_stop *s, void (*go)(void *ctx), void *ctx,
	struct leak_progress *progress, pid_t *last)
{
	struct leaving l = { .stop = s };
	int rc = trace_stop_trace(s, REPORTED);

	*last = 0;
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].state == TRACE_THREAD_STOPPED)
			trace_stop_resume(s, &s->thread[i]);
	/* Not earlier: a thread that had reached its end meanwhile would be resumed past it. */
	go(ctx);
	rc = leave_await(&l, progress);
	if (rc == 0) {
		ended_note(s);
		*last = last_of(s);
	}
	return rc;
}

#define STARTSTACK 28 /* field of /proc/PID/stat: proc(5) */

uint64_t leak_exit_stop_first_stack(const struct trace_stop *s)
{
	char path[64], text[1024];
	const char *p;
	pid_t tid = last_of(s);

	if (tid == 0 || trace_stop_state(s, s->pid) != 'Z')
		return 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].tid == s->pid && !s->thread[i].leaving)
			return 0; /* it was killed, together with all others, as far as we know */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)s->pid, (int)tid);
	if (proc_file_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')'); /* the end of field 2, a name that may contain ')' */
	for (int field = 2; p && field < STARTSTACK; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}
