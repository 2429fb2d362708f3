/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks for a desk (agent_walks.h). A thread makes each, with a reader of its own; a large table
 * takes half a second. */
#include "src/run/agent_walks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "src/session/live_far.h"
#include "src/util/clock.h"
#include "src/util/thread.h"

/* Walks may take 1/10 of the time, however often a desk asks. */
#define SHARE 10u

struct agent_walks {
	struct far_worker worker;
	/* The last request. */
	struct live_request request;
	struct read_segment *segment; /* owned; NULL: it is done */
	bool waits; /* its walk is not due yet */
	uint64_t begun_ns;
	uint64_t due_ns;
	bool runs;
	pthread_t thread;
	/* The thread's until it has ended, as is the segment. */
	atomic_bool ended;
	uint64_t cpu_ns;
	struct bytes found;
};

static void *walk_run(void *ctx)
{
	struct agent_walks *a = ctx;
	uint64_t cpu = clock_thread_cpu_ns();

	live_far_answer(a->segment, &a->request, clock_monotonic_ns() - a->begun_ns, &a->found);
	a->cpu_ns = clock_thread_cpu_ns() - cpu;
	atomic_store(&a->ended, true);
	return NULL;
}

/* Waits for the thread, if there is one. */
static void walk_end(struct agent_walks *a)
{
	if (a->runs) {
		pthread_join(a->thread, NULL);
		a->due_ns = clock_monotonic_ns() + a->cpu_ns * SHARE;
	}
	a->runs = a->waits = false;
	read_close(a->segment);
	a->segment = NULL;
}

static int walk_begin(void *ctx, const struct read_segment *segment, pid_t pid,
	const uint8_t *request, size_t len)
{
	struct agent_walks *a = ctx;
	struct bytes_cursor c = { request, request + len, false };
	char message[READ_MESSAGE_MAX];

	(void)pid;
	walk_end(a);
	bytes_free(&a->found);
	if (live_far_request_get(&c, &a->request) != 0)
		return -EPROTO;
	a->segment = read_open_again(segment, message);
	if (!a->segment)
		return -EIO;
	a->waits = true;
	a->begun_ns = clock_monotonic_ns();
	return 0;
}

/* A walk ends by itself. */
static void walk_cancel(void *ctx)
{
	(void)ctx;
}

/* Without a thread now, it is tried again. */
static void walk_start(struct agent_walks *a)
{
	if (clock_monotonic_ns() < a->due_ns)
		return;
	atomic_store(&a->ended, false);
	a->runs = thread_start(&a->thread, THREAD_STACK_BYTES, walk_run, a) == 0;
	a->waits = !a->runs;
}

static bool walk_look(void *ctx, struct far_working *s, const struct bytes **found)
{
	struct agent_walks *a = ctx;

	(void)s;
	if (a->waits)
		walk_start(a);
	if (a->waits || !atomic_load(&a->ended))
		return false;
	walk_end(a);
	*found = &a->found;
	return true;
}

static void walk_leave(void *ctx)
{
	struct agent_walks *a = ctx;

	walk_end(a);
	bytes_free(&a->found);
}

struct agent_walks *agent_walks_new(void)
{
	struct agent_walks *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->worker = (struct far_worker){
		.ctx = a,
		.begin = walk_begin,
		.cancel = walk_cancel,
		.look = walk_look,
		.leave = walk_leave,
	};
	return a;
}

const struct far_worker *agent_walks_worker(const struct agent_walks *a)
{
	return &a->worker;
}

void agent_walks_free(struct agent_walks *a)
{
	if (!a)
		return;
	walk_leave(a);
	free(a);
}
