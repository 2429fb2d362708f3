/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heaps from outside (outside.h). */
#include "src/run/outside.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "src/leak/before.h"
#include "src/read/read.h"
#include "src/util/clock.h"
#include "src/util/thread.h"

#define EVERY_NS UINT64_C(1000000000)
#define SHARE	 10u /* readings take 1/10 of a processor's time at most */
#define NS_PER_S UINT64_C(1000000000)

struct outside {
	struct read_segment *segment;
	pid_t pid;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t ends;
	bool ended; /* under the lock */
	struct leak_progress progress; /* cancelled at the end */
	int rc; /* of the last reading */
};

static uint64_t reading_take(struct outside *o)
{
	uint64_t start = clock_monotonic_ns();

	o->rc = leak_before_outside(o->segment, o->pid, &o->progress);
	return clock_monotonic_ns() - start;
}

/* True: it is to end. */
static bool pause_end(struct outside *o, uint64_t ns)
{
	struct timespec until;
	bool ended;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	pthread_mutex_lock(&o->lock);
	while (!o->ended && pthread_cond_timedwait(&o->ends, &o->lock, &until) != ETIMEDOUT)
		;
	ended = o->ended;
	pthread_mutex_unlock(&o->lock);
	return ended;
}

static void *readings_take(void *ctx)
{
	struct outside *o = ctx;
	uint64_t took = 0;

	while (!pause_end(o, took * SHARE > EVERY_NS ? took * SHARE : EVERY_NS))
		took = reading_take(o);
	return NULL;
}

static void lock_make(struct outside *o)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->ends, &attr);
	pthread_condattr_destroy(&attr);
}

struct outside *outside_start(const char *path, pid_t pid)
{
	char message[READ_MESSAGE_MAX];
	struct outside *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->pid = pid;
	lock_make(o);
	o->segment = read_open(path, message);
	if (o->segment)
		reading_take(o);
	if (o->segment && o->rc != -EPERM)
		o->has_thread = thread_start(&o->thread, THREAD_STACK_BYTES, readings_take, o) == 0;
	if (o->has_thread)
		return o;
	outside_stop(o);
	return NULL;
}

void outside_stop(struct outside *o)
{
	if (!o)
		return;
	if (o->has_thread) {
		pthread_mutex_lock(&o->lock);
		o->ended = true;
		o->progress.cancelled = true;
		pthread_cond_signal(&o->ends);
		pthread_mutex_unlock(&o->lock);
		pthread_join(o->thread, NULL);
	}
	read_close(o->segment);
	pthread_cond_destroy(&o->ends);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
