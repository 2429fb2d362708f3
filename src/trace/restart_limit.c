/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time limits of restarted calls (restart_limit.h). */
#include "src/trace/restart_limit.h"

#ifdef __x86_64__

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "src/proc/proc.h"
#include "src/util/clock.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* A thread that was let go on with a call. */
struct waiting {
	pid_t tid; /* 0: none */
	struct user_regs_struct regs;
	long sleeps; /* how often it had gone to sleep by then */
	uint64_t since_ns; /* when it was let go on with it for the first time */
};

#define S_NS  UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define KNOWN 256u /* threads, by tid; more of them may wait longer */
static struct waiting known[KNOWN];

static struct waiting *slot_of(pid_t tid)
{
	return &known[(unsigned)tid % KNOWN];
}

static bool timespec_read(pid_t tid, uint64_t at, uint64_t *ns)
{
	struct timespec t;
	struct iovec here = { &t, sizeof(t) }, there = { (void *)(uintptr_t)at, sizeof(t) };

	if (at == 0 || process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(t) ||
		t.tv_sec < 0 || t.tv_sec > INT32_MAX)
		return false;
	*ns = (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
	return true;
}

/* The limit of a call that a stop ends with EINTR, and what it returns then. False: it is another,
 * or has none. */
static bool limit_of(const struct trace_thread *t, uint64_t *ns, long *result)
{
	const struct user_regs_struct *r = &t->regs;

	if ((long)r->rax != -EINTR)
		return false;
	*result = 0;
	switch ((long)r->orig_rax) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		*ns = (uint64_t)(int)r->r10 * MS_NS;
		return (int)r->r10 > 0;
	case SYS_epoll_pwait2:
		return timespec_read(t->tid, r->r10, ns);
	case SYS_rt_sigtimedwait:
		*result = -EAGAIN;
		return timespec_read(t->tid, r->rdx, ns);
	case SYS_semtimedop:
		*result = -EAGAIN;
		return timespec_read(t->tid, r->r10, ns);
	default:
		return false;
	}
}

static bool sleeps_read(pid_t tid, long *sleeps)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return proc_status_number(path, "\nvoluntary_ctxt_switches:", false, sleeps);
}

void restart_limit_note(struct trace_thread *t)
{
	uint64_t ns;
	long result;

	t->call.has_limit = limit_of(t, &ns, &result) && sleeps_read(t->tid, &t->call.sleeps);
}

/* Whether it is still in the call with which it was let go on: it is at the same place, and has
 * slept twice since, in the call and to stop. */
static bool is_still(const struct waiting *w, const struct trace_thread *t)
{
	return w->tid == t->tid && t->call.sleeps == w->sleeps + 2 &&
	       memcmp(&w->regs, &t->regs, sizeof(w->regs)) == 0;
}

bool restart_limit_passed(struct trace_thread *t, long *result)
{
	struct waiting *w = slot_of(t->tid);
	uint64_t now = clock_monotonic_ns(), ns;
	bool has_limit = t->call.has_limit;
	long then;

	t->call.has_limit = false;
	if (!has_limit || !limit_of(t, &ns, &then)) {
		if (w->tid == t->tid)
			w->tid = 0;
		return false;
	}
	if (!is_still(w, t)) {
		*w = (struct waiting){ .tid = t->tid, .regs = t->regs, .since_ns = now };
	} else if (now - w->since_ns >= ns) {
		*result = then;
		w->tid = 0;
		return true;
	}
	/* Once more: it may have been elsewhere since it stopped. */
	if (!sleeps_read(t->tid, &w->sleeps))
		w->tid = 0;
	return false;
}

#else

void restart_limit_note(struct trace_thread *t)
{
}

bool restart_limit_passed(struct trace_thread *t, long *result)
{
	return false;
}

#endif
