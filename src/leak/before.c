/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks from before the recording (before.h). */
#include "src/leak/before.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/before.h"
#include "src/leak/access/access.h"
#include "src/leak/analysis/heap_walk.h"
#include "src/leak/live_table.h"
#include "src/util/clock.h"
#include "src/util/thread.h"

#define RUNNING_TRIES 3u

/* ---- the blocks of an instant ---- */

/* Drops what is in `known`, from `first` on, and gives the others their sites. */
static void known_drop(
	struct leak_blocks *b, uint32_t first, const struct leak_blocks *known, uint32_t site)
{
	uint32_t kept = first;

	for (uint32_t i = first; i < b->count; i++) {
		struct leak_block block = b->block[i];
		uint32_t at = leak_blocks_from(known, block.addr);

		if (at < known->count && known->block[at].addr == block.addr)
			continue;
		block.site = site + counter_size_bucket(block.size);
		b->block[kept++] = block;
	}
	b->count = kept;
}

/* only_whole: the process is running, and a part of its blocks is of no use. */
static int blocks_find(struct leak_space *space, const struct leak_blocks *known, uint32_t site,
	struct leak_blocks *fresh, struct leak_heap_walk *walk, bool only_whole)
{
	uint32_t first = fresh->count;
	int rc = only_whole ? leak_heap_walk_whole(space, fresh, walk)
			    : leak_heap_walk(space, fresh, walk);

	if (rc == 0)
		known_drop(fresh, first, known, site);
	return rc;
}

static int before_walk(struct read_segment *segment, struct leak_space *space,
	const struct leak_blocks *known, struct leak_blocks *fresh, bool *whole, bool only_whole)
{
	struct leak_heap_walk walk;
	struct read_before before;
	int rc = read_before(segment, &before);

	*whole = true;
	if (rc != 0 || before.site == 0)
		return rc;
	rc = blocks_find(space, known, before.site, fresh, &walk, only_whole);
	*whole = rc == 0 && walk.whole;
	return rc;
}

int leak_before_blocks(struct read_segment *segment, struct leak_space *space,
	const struct leak_blocks *known, struct leak_blocks *fresh, bool *whole)
{
	return before_walk(segment, space, known, fresh, whole, false);
}

int leak_before_running(struct read_segment *segment, struct leak_space *space,
	struct leak_blocks *blocks, bool *partial)
{
	struct leak_blocks fresh = { 0 };
	bool whole = false;
	int rc = 0;

	for (unsigned i = 0; i < RUNNING_TRIES && !whole && rc == 0; i++) {
		leak_blocks_free(&fresh);
		rc = before_walk(segment, space, blocks, &fresh, &whole, true);
	}
	if (rc == 0 && whole)
		rc = leak_blocks_patch(blocks, NULL, 0, &fresh);
	else
		leak_blocks_free(blocks);
	*partial |= !whole;
	leak_blocks_free(&fresh);
	return rc;
}

static void classes_sum(struct ht_before *b, const struct leak_blocks *blocks, uint32_t site)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		struct ht_before_class *c = &b->of[blocks->block[i].site - site];

		c->blocks++;
		c->bytes += blocks->block[i].size;
	}
}

/* One reading of what may change meanwhile. 0, or -EAGAIN if it does not add up. */
static int outside_read(
	struct leak_space *space, const struct read_before *before, struct ht_before *b)
{
	const struct leak_blocks none = { 0 };
	struct leak_blocks blocks = { 0 };
	struct leak_heap_walk walk;
	int rc = blocks_find(space, &none, before->site, &blocks, &walk, true);

	*b = (struct ht_before){ .ns = clock_monotonic_ns() };
	if (rc == 0)
		classes_sum(b, &blocks, before->site);
	leak_blocks_free(&blocks);
	return rc == 0 && !walk.whole ? -EAGAIN : rc;
}

int leak_before_outside(struct read_segment *segment, pid_t pid, struct leak_progress *progress)
{
	struct leak_space space;
	struct read_before before;
	struct ht_before b;
	int rc = read_before(segment, &before);

	if (rc == 0 && before.site == 0)
		rc = -ENOENT;
	if (rc == 0)
		rc = leak_space_open(&space, pid);
	if (rc != 0)
		return rc == -EACCES ? -EPERM : rc;
	space.progress = progress;
	rc = -EAGAIN;
	for (unsigned i = 0; i < RUNNING_TRIES && rc == -EAGAIN; i++)
		rc = outside_read(&space, &before, &b);
	leak_space_close(&space);
	return rc == 0 ? read_before_replace(segment, &b) : rc;
}

/* ---- one instant, for all viewers ---- */

struct search {
	struct leak_access access;
	struct leak_access_report report;
	struct leak_live_table table;
	struct leak_blocks live, fresh;
	struct read_before before;
	struct ht_before_class freed[HT_BEFORE_CLASSES]; /* until the instant */
	struct leak_before *out;
	uint64_t rest_ns; /* then no thread was inside malloc; 0: one was, or its code is not known
			   */
	int rc;
};

static void live_add(void *ctx, const struct read_block *b)
{
	struct search *s = ctx;
	struct leak_block block = leak_live_table_block(b);

	if (s->rc == 0)
		s->rc = leak_blocks_add(&s->live, &block);
}

static int live_read(struct search *s)
{
	struct read_live_copy *frozen = s->table.frozen;
	ssize_t n = read_blocks(
		frozen ? read_live_copy_segment(frozen) : s->access.segment, live_add, s);

	if (n < 0)
		return (int)n;
	return s->rc != 0 ? s->rc : leak_blocks_finish(&s->live);
}

/* What was there is what is, and what was freed since. */
static int publish(struct search *s)
{
	struct ht_before b = { .ns = clock_monotonic_ns() };
	int rc;

	memcpy(b.of, s->freed, sizeof(b.of));
	classes_sum(&b, &s->fresh, s->before.site);
	for (uint32_t i = 0; i < s->fresh.count; i++)
		s->out->bytes += s->fresh.block[i].size;
	s->out->blocks = s->fresh.count;
	rc = read_before_other(s->access.segment, &b.of[BEFORE_OTHER]);
	if (rc == 0)
		rc = read_before_publish(s->access.segment, &b);
	if (rc == 0 && s->rest_ns != 0)
		rc = read_before_settle(s->access.segment, s->rest_ns);
	if (rc == 0)
		read_publish_clock(s->access.segment, b.ns); /* what is born next is later */
	return rc;
}

/* The process stands still, and goes on as soon as it may. */
static int instant_read(struct search *s)
{
	struct leak_access *a = &s->access;
	struct leak_heap_walk walk = { 0 };
	int rc = leak_access_open(a);
	uint64_t at_ns = clock_monotonic_ns();

	if (rc == 0 && a->table)
		return -EPERM; /* its library lends a copy; threads may be inside malloc there */
	if (rc == 0)
		rc = read_before_freed(a->segment, &s->before, s->freed);
	if (rc == 0)
		rc = leak_live_table_take(&s->table);
	if (rc == 0)
		rc = leak_access_detach(a);
	if (rc == 0)
		rc = live_read(s);
	if (rc == 0)
		rc = blocks_find(&a->space, &s->live, s->before.site, &s->fresh, &walk, false);
	s->out->arenas = walk.arenas;
	s->out->busy = s->report.busy;
	s->out->whole = walk.whole && s->report.busy == 0;
	s->rest_ns = s->out->whole && a->malloc_code.end != 0 ? at_ns : 0;
	return rc;
}

static void *search_run(void *ctx)
{
	struct search *s = ctx;
	struct leak_access *a = &s->access;

	leak_access_prepare(a);
	s->table = (struct leak_live_table){ .segment = a->segment, .pid = a->pid };
	if (a->needs_table)
		a->has_table = leak_live_table_freeze(&s->table);
	s->rc = leak_access_take(a);
	if (s->rc == 0)
		s->rc = leak_access_release(a, instant_read(s));
	leak_live_table_free(&s->table);
	leak_access_reset(a);
	return NULL;
}

/* In a thread that ends then, since it stops the process (stop.h). */
static int search_once(struct search *s)
{
	pthread_t thread;
	int rc;

	leak_blocks_free(&s->live);
	leak_blocks_free(&s->fresh);
	rc = thread_start(&thread, THREAD_STACK_BYTES, search_run, s);
	if (rc != 0)
		return rc;
	pthread_join(thread, NULL);
	return s->rc;
}

/* Waits while another heaptop stops the process; a lost copy is not made again. */
static int search(struct search *s)
{
	int rc;

	while ((rc = search_once(s)) != 0) {
		if (leak_access_is_locked(&s->access))
			rc = leak_access_wait(&s->access);
		else if (rc != -ENOMEM || !leak_access_retry_in_place(&s->access))
			return rc;
		if (rc != 0 && leak_access_is_locked(&s->access))
			return rc;
		*s->access.message = '\0';
		s->rc = 0;
	}
	return 0;
}

static int known_or_publish(struct search *s)
{
	int rc = read_before(s->access.segment, &s->before);

	if (rc == 0 && s->before.site == 0) {
		snprintf(s->access.message, TRACE_MESSAGE_MAX,
			"process %d was recorded from its start: there is nothing from before",
			(int)s->access.pid);
		return -ENOENT;
	}
	s->out->known = rc == 0 && s->before.is_known;
	if (rc != 0 || s->out->known)
		return rc;
	rc = search(s);
	if (rc == 0)
		rc = publish(s);
	s->out->known = rc == -EEXIST;
	return rc == -EEXIST ? 0 : rc;
}

int leak_before_publish(struct read_segment *segment, pid_t pid, struct leak_progress *progress,
	struct leak_before *out, char *message)
{
	uint64_t start_ns = clock_monotonic_ns();
	struct search *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	*out = (struct leak_before){ 0 };
	*message = '\0';
	if (s) {
		s->out = out;
		s->access = (struct leak_access){ .segment = segment,
			.pid = pid,
			.copying = LEAK_COPY_AUTO,
			.at_rest = true,
			.progress = progress,
			.message = message,
			.report = &s->report,
			.space.pagemap = -1 };
		rc = known_or_publish(s);
		out->stop_ns = s->report.stop_ns;
		out->copied = s->report.copied;
		leak_access_close(&s->access);
		leak_blocks_free(&s->live);
		leak_blocks_free(&s->fresh);
	}
	free(s);
	out->find_ns = clock_monotonic_ns() - start_ns;
	if (rc != 0 && !*message)
		snprintf(message, TRACE_MESSAGE_MAX, "the heap of process %d cannot be read: %s",
			(int)pid, strerror(-rc));
	return rc;
}
