/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases of attaching and detaching (phase.h). */
#include "src/attach/phase.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/trace/other.h"
#include "src/util/clock.h"

/* How long the others stand still for a thread that does not stop: it sleeps uninterruptibly (for a
 * disk, or for a child of vfork), or waits for a processor. The next time twice as long. */
#define PATIENCE_NS   UINT64_C(30000000)
#define PATIENCE_MOST UINT64_C(400000000)
#define DOZES	      50u /* such threads are waited for at most, each time */
#define AGAIN_NS      500000 /* before the first repetition; each time twice as long */
#define AGAIN_MOST    20000000
#define STACK_BYTES                                                                                \
	(512u << 10) /* of the thread: call stacks are kept on it, and libunwind's own */
#define TEXT_MAX 160

struct running {
	struct attach_job *job;
	int (*what)(struct attach_job *j, void *ctx);
	void *ctx;
	int rc;
};

static void *phase_thread(void *arg)
{
	struct running *r = arg;

	r->rc = r->what(r->job, r->ctx);
	return NULL;
}

int attach_phase_run(struct attach_job *j, int (*what)(struct attach_job *j, void *ctx), void *ctx)
{
	struct running r = { j, what, ctx, 0 };
	pthread_attr_t attr;
	pthread_t thread;
	int rc = pthread_attr_init(&attr);

	if (rc != 0)
		return -rc;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&thread, &attr, phase_thread, &r);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		return attach_phase_refuse(j, -rc, "%s", strerror(rc));
	pthread_join(thread, NULL);
	return r.rc;
}

int attach_phase_await(struct attach_job *j, const char *awaited,
	int (*what)(struct attach_job *j, void *ctx), void *ctx)
{
	struct timespec pause = { .tv_nsec = AGAIN_NS };

	for (;;) {
		int rc = attach_phase_run(j, what, ctx);

		if (rc != -EAGAIN)
			return rc;
		if (clock_monotonic_ns() > j->until_ns)
			return -ETIMEDOUT;
		rc = awaited ? attach_phase_tell(j, "%s", awaited) : 0;
		if (rc != 0)
			return rc;
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec * 2 < AGAIN_MOST ? pause.tv_nsec * 2 : AGAIN_MOST;
	}
}

int attach_phase_repeat(
	struct attach_job *j, int (*what)(struct attach_job *j, void *ctx), void *ctx)
{
	return attach_phase_await(j, NULL, what, ctx);
}

int attach_phase_look(struct attach_job *j)
{
	int rc = attach_process_renew(&j->process);

	if (rc == -ENOENT || rc == -ESRCH)
		return attach_phase_refuse(j, -ESRCH, "it has ended");
	if (rc != 0)
		return attach_phase_refuse(j, rc, "%s", strerror(-rc));
	/* Its memory is that of the image for which it was opened. */
	if (!j->process.libc || !j->process.loader)
		return attach_phase_refuse(j, -ESTALE, ATTACH_EXECUTED);
	return 0;
}

static bool is_settled(struct attach_job *j, const struct trace_stop *s)
{
	if (j->settled)
		return true;
	for (size_t i = 0; i < s->count; i++)
		if (s->thread[i].state == TRACE_THREAD_STOPPED &&
			trace_remote_is_underway(
				&j->process.code, &j->process.image, &s->thread[i]))
			return false;
	j->settled = true;
	return true;
}

/* Whether a thread of it cannot be stopped now: the others need not stand still to see that. */
static bool is_asleep(pid_t pid)
{
	char folder[32];
	struct dirent *d;
	bool asleep = false;
	DIR *dir;

	snprintf(folder, sizeof(folder), "/proc/%d/task", (int)pid);
	dir = opendir(folder);
	while (dir && !asleep && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		asleep =
			tid > 0 && trace_stop_state(&(struct trace_stop){ .pid = pid }, tid) == 'D';
	}
	if (dir)
		closedir(dir);
	return asleep;
}

static bool is_refused(int rc)
{
	return rc == -EPERM || rc == -EACCES;
}

/* Another heaptop that attaches, or scans, is soon done: it may have let the process go before we
 * look for it. -EAGAIN; or `rc`: who traces it is no heaptop. */
static int others_turn(struct attach_job *j, int rc)
{
	pid_t pid = j->process.pid;
	bool others = trace_other_heaptop(pid) != 0;

	if (!others && (j->refused || trace_stop_tracer(pid) != 0))
		return rc;
	j->refused = !others;
	return -EAGAIN;
}

int attach_phase_stop(struct attach_job *j, struct trace_stop *s)
{
	char message[TRACE_MESSAGE_MAX];
	int rc;

	if (j->dozes++ < DOZES && is_asleep(j->process.pid))
		return -EAGAIN;
	j->dozes = 0;
	if (j->patience_ns == 0)
		j->patience_ns = PATIENCE_NS;
	j->stopped_ns = clock_monotonic_ns();
	rc = trace_stop_within(s, j->process.pid, j->patience_ns, j->process.done, message);
	if (rc != 0) {
		snprintf(j->message, ATTACH_MESSAGE_MAX, "%s", message);
		return is_refused(rc) ? others_turn(j, rc) : rc;
	}
	for (size_t i = 0; i < s->count; i++) {
		if (s->thread[i].state != TRACE_THREAD_UNSEIZED)
			continue;
		attach_phase_release(j, s);
		attach_phase_refuse(j, -EBUSY,
			"one of its threads is traced by another (a debugger); end that first");
		return others_turn(j, -EBUSY);
	}
	j->refused = false;
	if (s->whole && is_settled(j, s))
		return 0;
	if (!s->whole && j->patience_ns < PATIENCE_MOST)
		j->patience_ns *= 2;
	attach_phase_release(j, s);
	return -EAGAIN;
}

void attach_phase_went_on(struct attach_job *j)
{
	uint64_t ns = clock_monotonic_ns() - j->stopped_ns;

	if (j->stopped_ns == 0)
		return;
	j->stopped_ns = 0;
	j->pauses->pauses++;
	j->pauses->total_ns += ns;
	if (ns > j->pauses->longest_ns)
		j->pauses->longest_ns = ns;
}

void attach_phase_release(struct attach_job *j, struct trace_stop *s)
{
	trace_stop_detach(s);
	attach_phase_went_on(j);
	trace_stop_release(s);
}

int attach_phase_tell(struct attach_job *j, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!j->progress || j->progress(j->ctx, text))
		return 0;
	return attach_phase_refuse(j, -ECANCELED, "given up");
}

int attach_phase_refuse(struct attach_job *j, int rc, const char *format, ...)
{
	int n = snprintf(j->message, ATTACH_MESSAGE_MAX,
		"process %d cannot be %s: ", (int)j->process.pid, j->process.done);
	va_list ap;

	va_start(ap, format);
	vsnprintf(j->message + n, (size_t)(ATTACH_MESSAGE_MAX - n), format, ap);
	va_end(ap);
	return rc;
}
