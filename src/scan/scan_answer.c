/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One leak scan for another machine (scan_answer.h). */
#include "src/scan/scan_answer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/read.h"
#include "src/scan/scan_outcome.h"
#include "src/util/thread.h"

#define TOO_LARGE "no leak scan: its result is too large to be sent"

struct scan_answer {
	char *path;
	struct leak_scan_options request;
	struct leak_progress progress;
	pthread_t thread;
	bool started;
	struct bytes found; /* the thread's until `ended` */
	atomic_bool ended;
};

static void outcome_write(struct bytes *b, struct scan_outcome *o)
{
	scan_outcome_put(b, o);
	scan_outcome_free(o);
	if (!b->failed && b->len <= SCAN_OUTCOME_MOST)
		return;
	bytes_free(b);
	scan_outcome_fail(o, TOO_LARGE);
	scan_outcome_put(b, o);
}

static void *answer_run(void *ctx)
{
	struct scan_answer *a = ctx;
	char message[READ_MESSAGE_MAX];
	struct read_segment *segment = read_open(a->path, message);
	struct scan_outcome o;

	/* Only one that waits for it: others would be followed until they end. */
	a->request.at_exit &= segment && read_exit_scan_is_waiting(segment);
	if (segment)
		scan_outcome_make(&o, segment, &a->request);
	else
		scan_outcome_fail(&o, message);
	read_close(segment);
	outcome_write(&a->found, &o);
	a->ended = true;
	return NULL;
}

struct scan_answer *scan_answer_start(const char *path, const struct leak_scan_options *request)
{
	struct scan_answer *a = calloc(1, sizeof(*a));
	int rc = ENOMEM;

	if (!a)
		return NULL;
	a->path = strdup(path);
	a->request = *request;
	a->request.progress = &a->progress;
	if (a->path)
		rc = -thread_start(&a->thread, THREAD_STACK_BYTES, answer_run, a);
	a->started = rc == 0;
	if (a->started)
		return a;
	scan_answer_free(a);
	errno = rc;
	return NULL;
}

const struct leak_progress *scan_answer_progress(const struct scan_answer *a)
{
	return &a->progress;
}

void scan_answer_cancel(struct scan_answer *a)
{
	a->progress.cancelled = true;
}

const struct bytes *scan_answer_bytes(const struct scan_answer *a)
{
	return a->ended ? &a->found : NULL;
}

void scan_answer_free(struct scan_answer *a)
{
	if (!a)
		return;
	if (a->started) {
		a->progress.cancelled = true;
		pthread_join(a->thread, NULL);
	}
	bytes_free(&a->found);
	free(a->path);
	free(a);
}
