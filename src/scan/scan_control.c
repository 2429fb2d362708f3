/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans in a thread (scans.h). */
#include "src/scan/scan_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/scan/leak_summary.h"
#include "src/model/suspects.h"
#include "src/proc/proc.h"
#include "src/scan/scan_job.h"
#include "src/util/clock.h"

#define PROGRESS_NS 100000000l /* it is shown so often */

struct scans {
	char *path;
	struct leak_wish wish;
	const void *owner;
	int timer; /* readable now and then while a scan is under way */
	struct scanjob *job; /* the scan that is; or NULL */
	const char *given_up; /* why the job was cancelled; NULL: it was not, or was asked to be */
	struct scanjob *holder; /* one that is through, and holds its process; or NULL */
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
	s->owner = owner;
	s->state.version = version_next();
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->path && s->timer >= 0)
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
	if (!s->job)
		return;
	scanjob_cancel(s->job);
	scanjob_free(s->job);
	s->job = NULL;
	timer_set(s, false);
}

bool scans_release(struct scans *s)
{
	bool held = s->holder != NULL;

	scanjob_free(s->holder);
	s->holder = NULL;
	return held;
}

void scans_free(struct scans *s)
{
	if (!s)
		return;
	scans_stop(s);
	scans_release(s);
	leakcheck_free(s->last);
	leakcheck_free(s->before);
	leakcheck_free(s->failed);
	if (s->timer >= 0)
		close(s->timer);
	free(s->path);
	free(s);
}

bool scans_is_of(const struct scans *s, const char *path, const void *owner)
{
	return s->owner == owner && strcmp(s->path, path) == 0;
}

static int job_start(struct scans *s, const struct leak_wish *wish, bool hold)
{
	struct proc_reading r = { 0 };

	s->resident_bytes = proc_read(s->wish.pid, false, &r) == 0 ? r.rss_bytes + r.swap_bytes : 0;
	s->job = scanjob_start(s->path, wish, hold);
	timer_set(s, s->job != NULL);
	return s->job ? 0 : -errno;
}

int scans_start(struct scans *s)
{
	if (s->holder)
		return -EALREADY;
	return s->job ? -EBUSY : job_start(s, &s->wish, false);
}

int scans_start_at_exit(struct scans *s, bool hold)
{
	struct leak_wish wish = s->wish;

	wish.at_exit = true;
	wish.copying = LEAK_COPY_NEVER; /* nothing is lost while it stands still */
	scans_stop(s);
	return job_start(s, &wish, hold);
}

void scans_await(struct scans *s)
{
	struct pollfd p = { s->job ? scanjob_fd(s->job) : -1, POLLIN, 0 };

	while (s->job && poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

void scans_cancel(struct scans *s)
{
	if (s->job)
		scanjob_cancel(s->job);
}

void scans_give_up(struct scans *s, const char *why)
{
	if (s->job && !scanjob_cancelled(s->job)) {
		scanjob_cancel(s->job);
		s->given_up = why;
	}
}

void scans_every(struct scans *s, uint64_t ns)
{
	s->state.every_ns = ns;
	s->due_ns = clock_monotonic_ns() + ns;
}

void scans_look(struct scans *s)
{
	if (s->state.every_ns && !s->job && clock_monotonic_ns() >= s->due_ns)
		scans_start(s);
}

int scans_fds(const struct scans *s, struct pollfd *fds, int max)
{
	if (max < 2 || !s->job)
		return 0;
	fds[0] = (struct pollfd){ scanjob_fd(s->job), POLLIN, 0 };
	fds[1] = (struct pollfd){ s->timer, POLLIN, 0 };
	return 2;
}

static void made_take(struct scans *s, struct leakcheck *made)
{
	leakcheck_free(s->failed);
	s->failed = NULL;
	if (leakcheck_result(made)->failed) {
		s->failed = made;
		return;
	}
	leakcheck_compare(made, s->last);
	leakcheck_free(s->before);
	s->before = s->last;
	s->last = made;
	s->state.number++;
	s->state.version = version_next();
}

bool scans_collect(struct scans *s)
{
	uint64_t times;
	bool progress = read(s->timer, &times, sizeof(times)) > 0, cancelled;
	struct leakcheck *made;

	if (!s->job || !scanjob_ended(s->job))
		return progress;
	cancelled = scanjob_cancelled(s->job);
	made = scanjob_take(s->job);
	if (scanjob_holds(s->job))
		s->holder = s->job;
	else
		scanjob_free(s->job);
	s->job = NULL;
	timer_set(s, false);
	if (made && !cancelled)
		made_take(s, made);
	else
		leakcheck_free(made);
	if (s->given_up) {
		leakcheck_free(s->failed);
		s->failed = leakcheck_failed(s->given_up);
		s->given_up = NULL;
	}
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
		[LEAK_WAITING] = LEAKS_WAITING,
		[LEAK_EXITING] = LEAKS_EXITING };

	if (!s->job)
		return LEAKS_IDLE;
	return scanjob_cancelled(s->job) ? LEAKS_ENDING : phases[scanjob_progress(s->job)->phase];
}

const struct leaks *scans_state(struct scans *s)
{
	uint64_t now = clock_monotonic_ns();

	s->state.last = s->last ? leakcheck_result(s->last) : NULL;
	s->state.failed = s->failed ? leakcheck_result(s->failed)->failed : NULL;
	s->state.by_age = !s->last && s->failed && suspects_wanted(leakcheck_result(s->failed));
	s->state.phase = phase_of(s);
	s->state.held = s->holder != NULL;
	s->state.read_bytes = s->job ? scanjob_progress(s->job)->read_bytes : 0;
	s->state.of_bytes = s->resident_bytes;
	s->state.next_ns = s->state.every_ns && s->due_ns > now ? s->due_ns - now : 0;
	return &s->state;
}
