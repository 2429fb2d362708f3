/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan (scan.h). */
#include "src/leak/scan.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/leak/analysis/classes.h"
#include "src/leak/analysis/learned_offsets.h"
#include "src/leak/analysis/loader_blocks.h"
#include "src/leak/analysis/lost_blocks.h"
#include "src/leak/names/names.h"
#include "src/leak/pass.h"
#include "src/util/clock.h"
#include "src/util/thread.h"
#include "src/util/oom_score.h"

/* Lent copies in a row that must agree. Where threads do nothing but realloc, about one copy in ten
 * is wrong about what they hold. */
#define AGREED	   3u
#define UNSURE_MAX 10u /* copies with threads inside realloc, which cannot agree */

static bool is_cancelled(const struct leak_pass *s)
{
	return leak_progress_is_cancelled(s->request->progress);
}

/* `rc`, or -ECANCELED if that is 0 and the scan was cancelled. */
static int continued(const struct leak_pass *s, int rc)
{
	return rc == 0 && is_cancelled(s) ? -ECANCELED : rc;
}

/* Reads in a thread that ends afterwards and takes no signal of ours; or in this thread, which will
 * hold the process. */
static int pass_run(struct leak_pass *s)
{
	pthread_t thread;
	int rc;

	if (s->request->hold) {
		leak_pass_read(s);
		return s->rc;
	}
	rc = thread_start(&thread, THREAD_STACK_BYTES, leak_pass_read, s);
	if (rc == 0)
		pthread_join(thread, NULL);
	else
		snprintf(s->access.message, TRACE_MESSAGE_MAX,
			"no leak scan: cannot start a thread: %s", strerror(-rc));
	return rc == 0 ? s->rc : rc;
}

static void pass_end(struct leak_pass *s)
{
	leak_access_reset(&s->access);
	leak_graph_free(&s->graph);
	leak_blocks_free(&s->blocks);
	for (size_t i = 0; i < s->threads; i++)
		free(s->thread[i].words);
	free(s->thread);
	s->thread = NULL;
	s->threads = 0;
}

/* Waits while another heaptop scans the process. */
static int pass_when_unlocked(struct leak_pass *s)
{
	int rc;

	while ((rc = pass_run(s)) != 0 && leak_access_is_locked(&s->access)) {
		pass_end(s);
		*s->access.message = '\0';
		rc = leak_access_wait(&s->access);
		if (rc != 0)
			break;
	}
	return rc;
}

/* ---- classes ---- */

/* Offsets that are learned from the classes may make more blocks reachable. */
static int classify(struct leak_pass *s)
{
	int rc = leak_classes_assign(&s->graph);

	if (rc == 0 && s->graph.heuristics >> LEAK_BY_HEADER & 1)
		rc = leak_learned_offsets_find(&s->graph);
	return rc > 0 ? leak_classes_assign(&s->graph) : rc;
}

/* Roots have plainer names without memory for better ones. `stack_bytes`: this thread's. */
static int result_make_here(struct leak_pass *s, size_t stack_bytes)
{
	static const atomic_bool never;
	const atomic_bool *stop = s->request->progress ? &s->request->progress->cancelled : &never;
	const struct leak_result_parts parts = { .why = s->request->why,
		.lost = s->request->behind,
		.holders = s->request->holders,
		.inspect = s->request->inspect,
		.inspect_ctx = s->request->inspect_ctx,
		.stop = stop };
	struct leak_root_context context = { .graph = &s->graph,
		.space = &s->access.space,
		.thread = s->thread,
		.threads = s->threads };
	int rc;

	context.names = leak_names_new(&context, s->request->store, stop, stack_bytes);
	context.name = context.names ? leak_names_text : NULL;
	context.class_name = context.names ? leak_names_class : NULL;
	rc = leak_result_make(s->out, &context, &parts);
	leak_names_free(context.names);
	return rc;
}

static void *result_thread(void *ctx)
{
	struct leak_pass *s = ctx;

	s->rc = result_make_here(s, LEAK_NAMES_STACK_BYTES);
	return NULL;
}

/* In a thread with a stack for long names; without memory for one, in this thread. */
static int result_make(struct leak_pass *s)
{
	pthread_t thread;

	if (is_cancelled(s))
		return -ECANCELED;
	if (thread_start(&thread, LEAK_NAMES_STACK_BYTES, result_thread, s) != 0)
		return result_make_here(s, THREAD_STACK_BYTES);
	pthread_join(thread, NULL);
	return s->rc;
}

/* ---- passes ---- */

/* A lost copy is not replaced: the process stands still for the second attempt. */
static int pass(struct leak_pass *s)
{
	int rc = pass_when_unlocked(s);

	if (!is_cancelled(s) && leak_access_retry_in_place(&s->access)) {
		pass_end(s);
		*s->access.message = '\0';
		rc = s->rc = pass_when_unlocked(s);
	}
	if (rc == 0)
		rc = continued(s, leak_loader_blocks_mark(s->access.segment, &s->graph));
	return rc == 0 ? continued(s, classify(s)) : rc;
}

/* The blocks of this pass may be live in the next one. */
static void unsure_keep(struct leak_pass *s)
{
	leak_blocks_free(&s->unsure);
	s->unsure = (struct leak_blocks){
		.block = s->blocks.block, .count = s->blocks.count, .capacity = s->blocks.capacity
	};
	s->blocks.block = NULL;
}

/* Waits in steps, since the scan may be cancelled. */
static void between_wait(const struct leak_pass *s)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	uint64_t until = clock_monotonic_ns() +
			 (s->out->access.snapshots < 2 ? LEAK_APART_NS : LEAK_APART_NS / 5);

	while (clock_monotonic_ns() < until && !is_cancelled(s))
		nanosleep(&step, NULL);
}

/*
 * A copy made while other threads ran may be wrong: a pointer that a thread was moving may be in
 * neither place, or in a block that is in no table. So passes repeat until several in a row confirm
 * all blocks that are still considered lost.
 */
static int passes_repeat(struct leak_pass *s, struct leak_lost_blocks *lost)
{
	unsigned agreed = 0, unsure = 0;
	int rc = 0;

	while (rc == 0 && (s->out->access.snapshots < 2 || (lost->count > 0 && agreed < AGREED)) &&
		unsure < UNSURE_MAX) {
		unsure_keep(s);
		pass_end(s);
		between_wait(s);
		rc = pass(s);
		if (rc != 0)
			break;
		if (leak_lost_blocks_intersect(lost, &s->graph) > 0)
			agreed = 0;
		else if (s->out->access.busy == 0)
			agreed++;
		unsure += s->out->access.busy > 0;
	}
	return rc;
}

static int lost_confirm(struct leak_pass *s)
{
	struct leak_lost_blocks lost = { 0 };
	int rc = leak_lost_blocks_collect(&lost, &s->graph);

	if (rc == 0)
		rc = passes_repeat(s, &lost);
	if (rc == 0 && leak_lost_blocks_apply(&lost, &s->graph))
		rc = leak_classes_assign(&s->graph);
	leak_lost_blocks_free(&lost);
	return rc;
}

static int scan_run(struct leak_pass *s)
{
	int rc = pass(s);

	if (rc == 0 && !s->access.exact)
		rc = lost_confirm(s);
	if (rc == 0)
		rc = result_make(s);
	pass_end(s);
	leak_blocks_free(&s->unsure);
	leak_access_close(&s->access);
	return rc;
}

/* NULL: out of memory. It is too large for the stack. */
static struct leak_pass *pass_new(struct read_segment *segment,
	const struct leak_scan_options *request, struct leak_result *out, char *message)
{
	struct leak_pass *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->request = request;
	s->out = out;
	s->access.segment = segment;
	s->access.pid = request->pid;
	s->access.core = request->core;
	s->access.copying = request->copying;
	s->access.at_exit = request->at_exit;
	s->access.progress = request->progress;
	s->access.message = message;
	s->access.report = &out->access;
	s->access.space.pagemap = -1;
	return s;
}

int leak_scan(struct read_segment *segment, const struct leak_scan_options *request,
	struct leak_result *out, char *message)
{
	struct leak_pass *s = pass_new(segment, request, out, message);
	uint64_t start_ns = clock_monotonic_ns();
	int rc = -ENOMEM;

	*out = (struct leak_result){ 0 };
	*message = '\0';
	oom_score_raise();
	if (s) {
		rc = scan_run(s);
		if (s->access.exit_ns) /* without the wait for the program's end */
			start_ns = s->access.exit_ns;
		out->scan_ns = clock_monotonic_ns() - start_ns;
	}
	if (rc != 0 && !*message)
		snprintf(message, TRACE_MESSAGE_MAX, "no leak scan: %s",
			rc == -ECANCELED ? "it was cancelled" : strerror(-rc));
	free(s);
	oom_score_restore();
	if (rc != 0)
		leak_result_free(out);
	return rc;
}
