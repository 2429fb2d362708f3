/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leak scans for the screen (scan_control.h). */
#include "src/scan/scan_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/far/order.h"
#include "src/scan/leak_summary.h"
#include "src/model/suspects.h"
#include "src/proc/proc.h"
#include "src/scan/scan_job.h"
#include "src/util/clock.h"

#define PROGRESS_NS 100000000l /* between two updates of the progress */

struct scan_control {
	char *path;
	struct leak_scan_options request;
	const void *owner;
	int timer; /* readable regularly while a scan runs */
	struct scan_job *job; /* the running scan; or NULL */
	bool again; /* another scan was asked for while it runs */
	const char *given_up; /* why the job was cancelled; NULL: it was not, or by the user */
	struct scan_job *holding; /* a finished scan that holds its process; or NULL */
	struct leak_summary *last; /* the last successful scan */
	struct leak_summary *before; /* kept until the screen has been redrawn */
	struct leak_summary *failed; /* the last scan, if it failed */
	uint64_t due_ns, resident_bytes;
	struct leaks state;
};

/* A new version, unique among all processes. */
static unsigned version_next(void)
{
	static unsigned version;

	return ++version;
}

struct scan_control *scan_control_new(
	const char *path, const struct leak_scan_options *request, const void *owner)
{
	struct scan_control *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->path = strdup(path);
	s->request = *request;
	s->owner = owner;
	s->state.version = version_next();
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->path && s->timer >= 0)
		return s;
	scan_control_free(s);
	return NULL;
}

static void timer_set(struct scan_control *s, bool on)
{
	const struct timespec every = { .tv_nsec = on ? PROGRESS_NS : 0 };
	const struct itimerspec t = { every, every };

	timerfd_settime(s->timer, 0, &t, NULL);
}

void scan_control_stop(struct scan_control *s)
{
	s->again = false;
	if (!s->job)
		return;
	scan_job_cancel(s->job);
	scan_job_free(s->job);
	s->job = NULL;
	timer_set(s, false);
}

bool scan_control_release(struct scan_control *s)
{
	bool held = s->holding != NULL;

	scan_job_free(s->holding);
	s->holding = NULL;
	return held;
}

void scan_control_free(struct scan_control *s)
{
	if (!s)
		return;
	scan_control_stop(s);
	scan_control_release(s);
	leak_summary_free(s->last);
	leak_summary_free(s->before);
	leak_summary_free(s->failed);
	if (s->timer >= 0)
		close(s->timer);
	free(s->path);
	free(s);
}

bool scan_control_is_of(const struct scan_control *s, const char *path, const void *owner)
{
	return s->owner == owner && strcmp(s->path, path) == 0;
}

static int job_start(struct scan_control *s, const struct leak_scan_options *request, bool hold)
{
	struct proc_reading r = { 0 };

	s->resident_bytes =
		proc_read(s->request.pid, false, &r) == 0 ? r.rss_bytes + r.swap_bytes : 0;
	s->job = scan_job_start(s->path, request, hold);
	timer_set(s, s->job != NULL);
	return s->job ? 0 : -errno;
}

int scan_control_start(struct scan_control *s)
{
	if (s->holding)
		return -EALREADY;
	return s->job ? -EBUSY : job_start(s, &s->request, false);
}

static void failure_set(struct scan_control *s, const char *why)
{
	leak_summary_free(s->failed);
	s->failed = leak_summary_failed(why);
}

void scan_control_ask(struct scan_control *s)
{
	int rc = scan_control_start(s);

	s->again = rc == -EBUSY;
	if (rc != 0 && rc != -EBUSY && rc != -EALREADY)
		failure_set(s, rc == -EPERM ? "no leak scan: the agent there may only read"
					    : "no leak scan: no thread could be started");
}

int scan_control_start_contents(struct scan_control *s)
{
	struct leak_scan_options request = s->request;

	request.contents = true;
	request.copying = LEAK_COPY_ALWAYS;
	if (s->holding)
		return -EALREADY;
	return s->job ? -EBUSY : job_start(s, &request, false);
}

int scan_control_start_at_exit(struct scan_control *s, bool hold)
{
	struct leak_scan_options request = s->request;

	request.at_exit = true;
	request.copying = LEAK_COPY_NEVER; /* nothing is lost while it stands still */
	scan_control_stop(s);
	return job_start(s, &request, hold);
}

void scan_control_await(struct scan_control *s)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };

	while (s->job && !scan_job_ended(s->job)) {
		p.fd = scan_job_fd(s->job);
		(void)poll(&p, 1, FAR_ORDER_WAIT_MS); /* an agent may be silent */
	}
}

void scan_control_cancel(struct scan_control *s)
{
	s->again = false;
	if (s->job)
		scan_job_cancel(s->job);
}

void scan_control_give_up(struct scan_control *s, const char *why)
{
	s->again = false;
	if (s->job && !scan_job_cancelled(s->job)) {
		scan_job_cancel(s->job);
		s->given_up = why;
	}
}

void scan_control_every(struct scan_control *s, uint64_t ns)
{
	s->state.every_ns = ns;
	s->due_ns = clock_monotonic_ns() + ns;
}

void scan_control_poll(struct scan_control *s)
{
	if (s->state.every_ns && !s->job && clock_monotonic_ns() >= s->due_ns)
		scan_control_start(s);
}

int scan_control_fds(const struct scan_control *s, struct pollfd *fds, int max)
{
	if (max < 2 || !s->job)
		return 0;
	fds[0] = (struct pollfd){ scan_job_fd(s->job), POLLIN, 0 };
	fds[1] = (struct pollfd){ s->timer, POLLIN, 0 };
	return 2;
}

static void summary_take(struct scan_control *s, struct leak_summary *made)
{
	leak_summary_free(s->failed);
	s->failed = NULL;
	if (leak_summary_result(made)->failed) {
		s->failed = made;
		return;
	}
	leak_summary_compare(made, s->last);
	leak_summary_free(s->before);
	s->before = s->last;
	s->last = made;
	s->state.number++;
	s->state.version = version_next();
}

bool scan_control_collect(struct scan_control *s)
{
	uint64_t times;
	bool progress = read(s->timer, &times, sizeof(times)) > 0, cancelled;
	struct leak_summary *made;

	if (!s->job || !scan_job_ended(s->job))
		return progress;
	cancelled = scan_job_cancelled(s->job);
	made = scan_job_take(s->job);
	if (scan_job_holds(s->job))
		s->holding = s->job;
	else
		scan_job_free(s->job);
	s->job = NULL;
	timer_set(s, false);
	if (made && !cancelled)
		summary_take(s, made);
	else
		leak_summary_free(made);
	if (s->given_up) {
		failure_set(s, s->given_up);
		s->given_up = NULL;
	}
	s->due_ns = clock_monotonic_ns() + s->state.every_ns;
	if (s->again)
		scan_control_ask(s);
	return true;
}

void scan_control_suppress(
	struct scan_control *s, const struct snapshot *snap, const struct suppressions *rules)
{
	if (s->last && rules && leak_summary_suppress(s->last, snap, rules))
		s->state.version = version_next();
}

void scan_control_match(const struct scan_control *s, const struct snapshot *snap,
	const struct suppressions *rules, uint32_t site, struct leak_summary_matched *out)
{
	*out = (struct leak_summary_matched){ 0 };
	if (s->last)
		leak_summary_match(s->last, snap, rules, site, out);
}

static enum leaks_phase phase_of(const struct scan_control *s)
{
	static const enum leaks_phase phases[] = { [LEAK_STOPPING] = LEAKS_STOPPING,
		[LEAK_READING] = LEAKS_READING,
		[LEAK_FOLLOWING] = LEAKS_FOLLOWING,
		[LEAK_WAITING] = LEAKS_WAITING,
		[LEAK_EXITING] = LEAKS_EXITING };

	if (!s->job)
		return LEAKS_IDLE;
	return scan_job_cancelled(s->job) ? LEAKS_ENDING : phases[scan_job_progress(s->job)->phase];
}

const struct leaks *scan_control_state(struct scan_control *s)
{
	uint64_t now = clock_monotonic_ns();

	s->state.last = s->last ? leak_summary_result(s->last) : NULL;
	s->state.failed = s->failed ? leak_summary_result(s->failed)->failed : NULL;
	s->state.by_age = !s->last && s->failed && suspects_wanted(leak_summary_result(s->failed));
	s->state.phase = phase_of(s);
	s->state.held = s->holding != NULL;
	s->state.read_bytes = s->job ? scan_job_progress(s->job)->read_bytes : 0;
	s->state.of_bytes = s->resident_bytes;
	s->state.next_ns = s->state.every_ns && s->due_ns > now ? s->due_ns - now : 0;
	return &s->state;
}
