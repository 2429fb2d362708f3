/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans in a thread (scans.h). */
#include "src/scans.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/leak/progress.h"
#include "src/leakcheck.h"
#include "src/model/suspects.h"
#include "src/proc/proc.h"
#include "src/util/clock.h"

#define PROGRESS_NS 100000000l /* it is shown so often */

struct scans {
	char *path;
	struct leak_wish wish;
	const void *owner;
	int fd; /* the thread writes to it when it is through */
	int timer; /* readable now and then while a scan is under way */
	bool is_busy;
	pthread_t thread;
	struct leak_progress progress;
	struct leakcheck *made; /* by the thread; ours once it was joined */
	struct leakcheck *last; /* that worked */
	struct leakcheck *before; /* kept for who has not drawn anew since */
	struct leakcheck *failed; /* the last, if it did not */
	uint64_t due_ns, resident_bytes;
	struct leaks state;
};

/* Never the same again, whatever process it is of. */
static unsigned version_next(void)
{
	static unsigned version;

	return ++version;
}

struct scans *scans_new(const char *path, const struct leak_wish *wish, const void *owner)
{
	struct scans *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->path = strdup(path);
	s->wish = *wish;
	s->wish.progress = &s->progress;
	s->owner = owner;
	s->state.version = version_next();
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->path && s->fd >= 0 && s->timer >= 0)
		return s;
	scans_free(s);
	return NULL;
}

static void timer_set(struct scans *s, bool on)
{
	const struct timespec every = { .tv_nsec = on ? PROGRESS_NS : 0 };
	const struct itimerspec t = { every, every };

	timerfd_settime(s->timer, 0, &t, NULL);
}

void scans_stop(struct scans *s)
{
	eventfd_t count;

	if (!s->is_busy)
		return;
	s->progress.cancelled = true;
	pthread_join(s->thread, NULL);
	eventfd_read(s->fd, &count);
	leakcheck_free(s->made);
	s->made = NULL;
	s->is_busy = false;
	timer_set(s, false);
}

void scans_free(struct scans *s)
{
	if (!s)
		return;
	scans_stop(s);
	leakcheck_free(s->last);
	leakcheck_free(s->before);
	leakcheck_free(s->failed);
	if (s->fd >= 0)
		close(s->fd);
	if (s->timer >= 0)
		close(s->timer);
	free(s->path);
	free(s);
}

bool scans_is_of(const struct scans *s, const char *path, const void *owner)
{
	return s->owner == owner && strcmp(s->path, path) == 0;
}

/* A segment of its own: the main thread goes on using the other. */
static void *scan_run(void *ctx)
{
	struct scans *s = ctx;
	char message[READ_MESSAGE_MAX];
	struct read_segment *segment = read_open(s->path, message);

	if (segment)
		s->made = leakcheck_run(segment, &s->wish);
	else
		s->made = leakcheck_failed(message);
	read_close(segment);
	eventfd_write(s->fd, 1);
	return NULL;
}

int scans_start(struct scans *s)
{
	struct proc_reading r = { 0 };
	sigset_t all, before;
	int rc;

	if (s->is_busy)
		return -EBUSY;
	s->progress.phase = LEAK_STOPPING;
	s->progress.read_bytes = 0;
	s->progress.cancelled = false;
	s->resident_bytes = proc_read(s->wish.pid, false, &r) == 0 ? r.rss_bytes + r.swap_bytes : 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, NULL, scan_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	s->is_busy = rc == 0;
	timer_set(s, s->is_busy);
	return -rc;
}

void scans_cancel(struct scans *s)
{
	s->progress.cancelled = true;
}

void scans_every(struct scans *s, uint64_t ns)
{
	s->state.every_ns = ns;
	s->due_ns = clock_monotonic_ns() + ns;
}

void scans_look(struct scans *s)
{
	if (s->state.every_ns && !s->is_busy && clock_monotonic_ns() >= s->due_ns)
		scans_start(s);
}

int scans_fds(const struct scans *s, struct pollfd *fds, int max)
{
	if (max < 2)
		return 0;
	fds[0] = (struct pollfd){ s->fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ s->timer, POLLIN, 0 };
	return 2;
}

static void made_take(struct scans *s)
{
	leakcheck_free(s->failed);
	s->failed = NULL;
	if (leakcheck_result(s->made)->failed) {
		s->failed = s->made;
		return;
	}
	leakcheck_compare(s->made, s->last);
	leakcheck_free(s->before);
	s->before = s->last;
	s->last = s->made;
	s->state.number++;
	s->state.version = version_next();
}

void scans_add(struct scans *s, struct leakcheck *made)
{
	s->made = made;
	if (made)
		made_take(s);
	s->made = NULL;
	s->due_ns = clock_monotonic_ns() + s->state.every_ns;
}

bool scans_collect(struct scans *s)
{
	uint64_t times;
	bool progress = read(s->timer, &times, sizeof(times)) > 0;
	eventfd_t count;

	if (!s->is_busy || eventfd_read(s->fd, &count) != 0)
		return progress;
	pthread_join(s->thread, NULL);
	s->is_busy = false;
	timer_set(s, false);
	if (s->made && !s->progress.cancelled)
		made_take(s);
	else
		leakcheck_free(s->made);
	s->made = NULL;
	s->due_ns = clock_monotonic_ns() + s->state.every_ns;
	return true;
}

void scans_suppress(struct scans *s, const struct snapshot *snap, const struct suppress *rules)
{
	if (s->last && rules && leakcheck_suppress(s->last, snap, rules))
		s->state.version = version_next();
}

void scans_match(const struct scans *s, const struct snapshot *snap, const struct suppress *rules,
	uint32_t site, struct leakcheck_matched *out)
{
	*out = (struct leakcheck_matched){ 0 };
	if (s->last)
		leakcheck_match(s->last, snap, rules, site, out);
}

static enum leaks_phase phase_of(const struct scans *s)
{
	static const enum leaks_phase phases[] = { [LEAK_STOPPING] = LEAKS_STOPPING,
		[LEAK_READING] = LEAKS_READING,
		[LEAK_FOLLOWING] = LEAKS_FOLLOWING,
		[LEAK_WAITING] = LEAKS_WAITING };

	if (!s->is_busy)
		return LEAKS_IDLE;
	return s->progress.cancelled ? LEAKS_ENDING : phases[s->progress.phase];
}

const struct leaks *scans_state(struct scans *s)
{
	uint64_t now = clock_monotonic_ns();

	s->state.last = s->last ? leakcheck_result(s->last) : NULL;
	s->state.failed = s->failed ? leakcheck_result(s->failed)->failed : NULL;
	s->state.by_age = !s->last && s->failed && suspects_wanted(leakcheck_result(s->failed));
	s->state.phase = phase_of(s);
	s->state.read_bytes = s->progress.read_bytes;
	s->state.of_bytes = s->resident_bytes;
	s->state.next_ns = s->state.every_ns && s->due_ns > now ? s->due_ns - now : 0;
	return &s->state;
}
