/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan (scan.h). */
#include "src/leak/scan.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/leak/analysis/lost_blocks.h"
#include "src/leak/analysis/learned_offsets.h"
#include "src/leak/analysis/loader_blocks.h"
#include "src/leak/pass.h"
#include "src/util/clock.h"
#include "src/util/thread.h"
#include "src/util/oom_score.h"

/* So many copies in a row must agree. Where threads do nothing but realloc, one in some ten is
 * wrong about what they hold. */
#define AGREED	   3u
#define UNSURE_MAX 10u /* copies with threads inside realloc, which do not agree */

/* In a thread that ends with it, and that takes no signal of ours; or in this one, which holds it.
 */
static int in_thread(struct leak_pass *s)
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
		snprintf(s->message, LEAK_MESSAGE_MAX, "no thread to scan with: %s", strerror(-rc));
	return rc == 0 ? s->rc : rc;
}

static void pass_end(struct leak_pass *s)
{
	leak_space_close(&s->space);
	leak_graph_free(&s->graph);
	leak_blocks_free(&s->blocks);
	free(s->thread);
	s->thread = NULL;
	s->threads = 0;
}

/* When no other heaptop scans it. */
static int turn_take(struct leak_pass *s)
{
	int rc;

	while ((rc = in_thread(s)) != 0 && s->turn.others) {
		pass_end(s);
		*s->message = '\0';
		rc = leak_scan_lock_await(
			&s->turn, s->request->pid, s->request->progress, s->message);
		if (rc != 0)
			break;
	}
	return rc;
}

/* ---- classes ---- */

/* What is learned of heads of blocks may make more of them reachable. */
static int classify(struct leak_pass *s)
{
	int rc = leak_graph_classify(&s->graph);

	if (rc == 0 && s->graph.heuristics >> LEAK_BY_HEADER & 1)
		rc = leak_learned_offsets_find(&s->graph);
	return rc > 0 ? leak_graph_classify(&s->graph) : rc;
}

static int found_make(struct leak_pass *s)
{
	const struct leak_root_context found = {
		.graph = &s->graph, .space = &s->space, .thread = s->thread, .threads = s->threads
	};

	if (leak_pass_is_cancelled(s))
		return -ECANCELED;
	return leak_result_make(s->out, &found, s->request->why, s->request->behind);
}

/* Where memory was short for a copy, the program stands still after all. */
static int pass_again(struct leak_pass *s)
{
	bool short_of_memory = s->copier.headroom.ended;

	pass_end(s);
	s->out->copied = false;
	s->copying = LEAK_COPY_NEVER;
	*s->message = '\0';
	s->rc = turn_take(s);
	s->out->no_copy = short_of_memory ? "memory got short, and it was given up"
					  : "it was killed before it was read";
	return s->rc;
}

static int pass(struct leak_pass *s)
{
	int rc = turn_take(s);

	if (s->copier.lost && !leak_pass_is_cancelled(s))
		rc = pass_again(s);
	if (rc == 0)
		rc = leak_pass_go_on(s, leak_loader_blocks_mark(s->segment, &s->graph));
	return rc == 0 ? leak_pass_go_on(s, classify(s)) : rc;
}

/* The blocks are such as may be there the next time. */
static void unsure_keep(struct leak_pass *s)
{
	leak_blocks_free(&s->unsure);
	s->unsure = (struct leak_blocks){
		.block = s->blocks.block, .count = s->blocks.count, .capacity = s->blocks.capacity
	};
	s->blocks.block = NULL;
}

/* In steps, for it may be cancelled. */
static void apart_wait(const struct leak_pass *s)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	uint64_t until =
		clock_monotonic_ns() + (s->out->snapshots < 2 ? LEAK_APART_NS : LEAK_APART_NS / 5);

	while (clock_monotonic_ns() < until && !leak_pass_is_cancelled(s))
		nanosleep(&step, NULL);
}

/*
 * What a copy says may be wrong where others were at work while it was made: a pointer on its way
 * from one place to another may be in neither, or in a block that is in no table. So there are
 * more of them, until several in a row have nothing to say against what is left.
 */
static int passes_more(struct leak_pass *s, struct leak_lost_blocks *lost)
{
	unsigned agreed = 0, unsure = 0;
	int rc = 0;

	while (rc == 0 && (s->out->snapshots < 2 || (lost->count > 0 && agreed < AGREED)) &&
		unsure < UNSURE_MAX) {
		unsure_keep(s);
		pass_end(s);
		apart_wait(s);
		rc = pass(s);
		s->out->snapshots++;
		if (rc != 0)
			break;
		if (leak_lost_blocks_intersect(lost, &s->graph) > 0)
			agreed = 0;
		else if (s->out->busy == 0)
			agreed++;
		unsure += s->out->busy > 0;
	}
	return rc;
}

static int lost_confirm(struct leak_pass *s)
{
	struct leak_lost_blocks lost = { 0 };
	int rc = leak_lost_blocks_collect(&lost, &s->graph);

	if (rc == 0)
		rc = passes_more(s, &lost);
	if (rc == 0 && leak_lost_blocks_apply(&lost, &s->graph))
		rc = leak_graph_classify(&s->graph);
	leak_lost_blocks_free(&lost);
	return rc;
}

static int scan_run(struct leak_pass *s)
{
	int rc = pass(s);

	s->out->snapshots = s->out->lent;
	if (rc == 0 && s->out->lent && !s->lent.sure)
		rc = lost_confirm(s);
	if (rc == 0)
		rc = found_make(s);
	pass_end(s);
	leak_blocks_free(&s->unsure);
	leak_coop_close(s->coop);
	return rc;
}

int leak_scan(struct read_segment *segment, const struct leak_scan_options *request,
	struct leak_result *out, char *message)
{
	struct leak_pass *s = calloc(1, sizeof(*s)); /* too large for the stack */
	int rc = -ENOMEM;

	*out = (struct leak_result){ 0 };
	*message = '\0';
	yield_begin();
	if (s) {
		s->segment = segment;
		s->request = request;
		s->out = out;
		s->message = message;
		s->copying = request->copying;
		s->space.pagemap = -1;
		s->begin_ns = clock_monotonic_ns();
		rc = scan_run(s);
		out->scan_ns = clock_monotonic_ns() - s->begin_ns;
	}
	if (rc != 0 && !*message)
		snprintf(message, LEAK_MESSAGE_MAX, "no leak scan: %s",
			rc == -ECANCELED ? "it was ended before it was through" : strerror(-rc));
	free(s);
	yield_end();
	if (rc != 0)
		leak_result_free(out);
	return rc;
}
