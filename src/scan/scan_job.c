/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One leak scan in a thread (scan_job.h). */
#include "src/scan/scan_job.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/scan/scan_far.h"
#include "src/util/thread.h"

struct scan_job {
	char *path; /* NULL: it is scanned on another machine, and no thread is needed */
	struct leak_scan_options request;
	struct leak_progress progress;
	int fd; /* the thread writes to it at the end of the scan */
	int release; /* and then waits for this, if it holds the process */
	bool started, hold;
	pthread_t thread;
	/* Written by the thread before it writes to `fd`. */
	struct leak_summary *made;
	bool holds;
	bool ended; /* on another machine; main thread */
};

static void job_wait(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Takes what has come from another machine. */
static void far_take(struct scan_job *j, int timeout_ms)
{
	struct scan_outcome o;

	if (j->made || j->ended || !scan_far_take(j->request.far, timeout_ms, &j->progress, &o))
		return;
	j->made = leak_summary_of(&o, j->request.contents);
	j->ended = true;
	eventfd_write(j->fd, 1);
}

static void *job_run(void *ctx)
{
	struct scan_job *j = ctx;
	char message[READ_MESSAGE_MAX];
	struct read_segment *segment = read_open(j->path, message);
	struct trace_stop held = { 0 };

	j->request.hold = j->hold ? &held : NULL;
	if (segment)
		j->made = leak_summary_run(segment, &j->request);
	else
		j->made = leak_summary_failed(message);
	read_close(segment);
	j->holds = held.count > 0;
	eventfd_write(j->fd, 1);
	if (j->holds)
		job_wait(j->release);
	trace_stop_release(&held);
	return NULL;
}

void scan_job_free(struct scan_job *j)
{
	if (!j)
		return;
	if (j->started && j->request.far && !j->ended && !j->progress.cancelled)
		j->request.far->cancel(j->request.far->ctx);
	if (j->started && !j->request.far) {
		eventfd_write(j->release, 1);
		pthread_join(j->thread, NULL);
	}
	leak_summary_free(j->made);
	if (j->fd >= 0)
		close(j->fd);
	if (j->release >= 0)
		close(j->release);
	free(j->path);
	free(j);
}

struct scan_job *scan_job_start(
	const char *path, const struct leak_scan_options *request, bool hold)
{
	struct scan_job *j = calloc(1, sizeof(*j));
	int rc = ENOMEM;

	if (!j)
		return NULL;
	j->path = strdup(path);
	j->request = *request;
	j->request.progress = &j->progress;
	j->hold = hold;
	j->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	j->release = j->fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (j->release < 0)
		rc = errno;
	else if (request->far)
		rc = -scan_far_begin(request->far, request);
	else if (j->path)
		rc = -thread_start(&j->thread, THREAD_STACK_BYTES, job_run, j);
	j->started = rc == 0;
	if (j->started)
		return j;
	scan_job_free(j);
	errno = rc;
	return NULL;
}

int scan_job_fd(const struct scan_job *j)
{
	return j->request.far && !j->ended ? j->request.far->fd(j->request.far->ctx) : j->fd;
}

bool scan_job_ended(struct scan_job *j)
{
	struct pollfd p = { j->fd, POLLIN, 0 };

	if (j->request.far)
		far_take(j, 0);
	return poll(&p, 1, 0) > 0;
}

const struct leak_progress *scan_job_progress(const struct scan_job *j)
{
	return &j->progress;
}

void scan_job_cancel(struct scan_job *j)
{
	if (j->request.far && !j->ended && !j->progress.cancelled)
		j->request.far->cancel(j->request.far->ctx);
	j->progress.cancelled = true;
}

bool scan_job_cancelled(const struct scan_job *j)
{
	return j->progress.cancelled;
}

struct leak_summary *scan_job_take(struct scan_job *j)
{
	struct leak_summary *made;

	while (j->request.far && !j->ended)
		far_take(j, FAR_ORDER_WAIT_MS);
	job_wait(j->fd);
	made = j->made;
	j->made = NULL;
	return made;
}

bool scan_job_holds(const struct scan_job *j)
{
	return j->holds;
}
