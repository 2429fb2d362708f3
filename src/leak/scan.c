/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan (scan.h). */
#include "src/leak/scan.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/clock.h"

/* A thread is through with realloc after microseconds; with that of a large block after
 * milliseconds. */
#define RETRIES_MAX 200u
/* So often all threads are let go: one may wait for another that stands still, for a lock of the
 * allocator. */
#define RETRY_ALL 4u

struct scan {
	struct read_segment *segment;
	const struct leak_wish *wish;
	struct leak_result *out;
	char *message;
	struct leak_stop stop;
	struct leak_space space;
	struct leak_blocks blocks;
	struct leak_graph graph;
	int64_t moving_at; /* read_moving_at */
	bool all; /* threads are to be let go */
	int rc;
};

/* ---- threads inside realloc ---- */

#ifdef __x86_64__
static uint64_t thread_pointer(const struct leak_thread *t)
{
	return t->regs.fs_base;
}
#else
static uint64_t thread_pointer(const struct leak_thread *t)
{
	return 0;
}
#endif

/* The block that it moves is not in the live table, and what that points to would seem lost. */
static bool is_moving(struct scan *s, const struct leak_thread *t)
{
	uint64_t at = thread_pointer(t) + (uint64_t)s->moving_at, word;

	if (s->moving_at == 0 || thread_pointer(t) == 0 ||
		!leak_space_word(&s->space, at & ~7ull, &word))
		return false;
	return (word >> at % 8 * 8 & 0xff) != 0;
}

static bool is_to_go(void *ctx, const struct leak_thread *t)
{
	struct scan *s = ctx;

	return s->all || is_moving(s, t);
}

static unsigned moving_count(struct scan *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->stop.count; i++)
		n += s->stop.thread[i].state == LEAK_THREAD_STOPPED &&
		     is_moving(s, &s->stop.thread[i]);
	return n;
}

static void moving_await(struct scan *s)
{
	s->moving_at = read_moving_at(s->segment);
	for (unsigned i = 1; i <= RETRIES_MAX; i++) {
		s->out->busy = moving_count(s);
		if (s->out->busy == 0)
			return;
		s->all = i % RETRY_ALL == 0;
		leak_stop_retry(&s->stop, is_to_go, s);
	}
}

/* ---- reading ---- */

static void block_add(void *ctx, const struct read_block *b)
{
	struct scan *s = ctx;
	struct leak_block block = { b->addr, b->size, b->site,
		(uint32_t)(b->tick / LEAK_BIRTH_TICKS) };

	if (s->rc == 0)
		s->rc = leak_blocks_add(&s->blocks, &block);
}

static int table_read(struct scan *s)
{
	ssize_t n = read_blocks(s->segment, block_add, s);

	if (n < 0)
		return (int)n;
	return s->rc != 0 ? s->rc : leak_blocks_finish(&s->blocks);
}

static int memory_read(struct scan *s)
{
	struct leak_roots roots = { .kinds = s->wish->roots, .stack = read_leak_stack(s->segment) };
	struct leak_memory memory;
	int rc = leak_graph_start(&s->graph, &s->blocks);

	if (rc != 0)
		return rc;
	leak_roots_scan(&roots, &s->space, &s->stop, &s->graph);
	leak_roots_blocks(&s->space, &s->graph);
	memory = leak_space_memory(&s->space);
	leak_graph_explain(&s->graph, &memory);
	s->out->devices = roots.devices;
	return 0;
}

/* The mappings may have changed while threads were let go. */
static int space_again(struct scan *s)
{
	leak_space_close(&s->space);
	return leak_space_open(&s->space, s->wish->pid);
}

static int standing_read(struct scan *s)
{
	int rc = leak_space_open(&s->space, s->wish->pid);

	if (rc != 0)
		return rc;
	moving_await(s);
	rc = space_again(s);
	if (rc == 0)
		rc = table_read(s);
	if (rc == 0)
		rc = memory_read(s);
	s->out->scanned_bytes = s->space.scanned_bytes;
	s->out->unread_bytes = s->space.unread_bytes;
	s->out->threads = (unsigned)s->stop.count;
	s->out->running = (unsigned)leak_stop_running(&s->stop);
	return rc;
}

static void *stop_and_read(void *ctx)
{
	struct scan *s = ctx;
	uint64_t start = clock_monotonic_ns();

	s->rc = leak_stop(&s->stop, s->wish->pid, s->message);
	if (s->rc != 0)
		return NULL;
	s->rc = standing_read(s);
	leak_stop_release(&s->stop);
	s->out->stop_ns = clock_monotonic_ns() - start;
	if (s->rc != 0)
		snprintf(s->message, LEAK_MESSAGE_MAX, "%d cannot be scanned: %s",
			(int)s->wish->pid, strerror(-s->rc));
	return NULL;
}

/* In a thread that ends with it, and that takes no signal of ours. */
static int in_thread(struct scan *s)
{
	sigset_t all, old;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, NULL, stop_and_read, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_join(thread, NULL);
	else
		snprintf(s->message, LEAK_MESSAGE_MAX, "no thread to scan with: %s", strerror(rc));
	return rc == 0 ? s->rc : -rc;
}

/* ---- blocks of the loader ---- */

static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-2.", 5) == 0 ||
	       strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld-musl", 7) == 0;
}

static bool is_loaders_site(struct read_segment *segment, uint32_t node)
{
	struct read_frame frame;
	struct read_module module;
	uint32_t function;

	return read_stack(segment, node, &frame, 1, &function) > 0 && frame.module != 0 &&
	       read_module(segment, frame.module, &module) == 0 && is_loader(module.path);
}

/* What ld.so allocated (for thread-local data, above all) it keeps in ways of its own. */
static int loaders_mark(struct scan *s)
{
	struct read_totals totals;
	struct read_site *site = NULL;
	bool *is_loaders = NULL;
	ssize_t n = read_totals(s->segment, &totals);

	if (n == 0) {
		site = calloc(totals.sites + 1u, sizeof(*site));
		is_loaders = calloc(totals.sites + 1u, sizeof(*is_loaders));
		n = site && is_loaders ? read_sites(s->segment, 0, site, totals.sites) : -ENOMEM;
	}
	for (ssize_t i = 1; i < n; i++)
		is_loaders[i] = is_loaders_site(s->segment, site[i].node);
	for (uint32_t i = 0; n >= 0 && i < s->blocks.count; i++)
		if (s->blocks.block[i].site < (uint32_t)n && is_loaders[s->blocks.block[i].site])
			leak_graph_root_block(&s->graph, i);
	free(site);
	free(is_loaders);
	return n < 0 ? (int)n : 0;
}

/* ---- the result ---- */

static void sum_add(struct leak_sum *s, uint64_t bytes)
{
	s->blocks++;
	s->bytes += bytes;
}

/* The row of a site and class: number in `index` less 1, which has LEAK_CLASSES for each site. */
static struct leak_row *row_of(
	struct leak_result *r, uint32_t *index, uint32_t site, enum leak_class class)
{
	uint32_t *at = &index[(size_t)site * LEAK_CLASSES + class];

	if (*at == 0) {
		r->row[r->rows] =
			(struct leak_row){ .class = class, .site = site, .oldest = UINT32_MAX };
		*at = (uint32_t)++r->rows;
	}
	return &r->row[*at - 1];
}

static int row_order(const void *left, const void *right)
{
	const struct leak_row *a = left, *b = right;
	uint64_t x = a->sum.bytes + a->indirect.bytes, y = b->sum.bytes + b->indirect.bytes;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static void block_count(const struct scan *s, uint32_t i, uint32_t *index)
{
	struct leak_result *r = s->out;
	const struct leak_block *b = &s->blocks.block[i];
	enum leak_class class = s->graph.class[i];
	struct leak_row *row = row_of(r, index, b->site, class);

	sum_add(&r->sum[class], b->size);
	sum_add(&row->sum, b->size);
	if (class == LEAK_REACHABLE && s->graph.heuristic[i])
		sum_add(&r->heuristic[s->graph.heuristic[i]], b->size);
	if (b->birth < row->oldest)
		row->oldest = b->birth;
	if (class == LEAK_INDIRECT)
		sum_add(&row_of(r, index, s->blocks.block[s->graph.leader[i]].site, LEAK_DEFINITE)
				 ->indirect,
			b->size);
}

static int result_make(struct scan *s)
{
	uint32_t sites = 0, *index;
	size_t cells;

	for (uint32_t i = 0; i < s->blocks.count; i++)
		if (s->blocks.block[i].site >= sites)
			sites = s->blocks.block[i].site + 1;
	cells = (size_t)sites * LEAK_CLASSES;
	index = calloc(cells + 1, sizeof(*index));
	s->out->row = calloc(cells + 1, sizeof(*s->out->row));
	if (!index || !s->out->row) {
		free(index);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->blocks.count; i++)
		block_count(s, i, index);
	qsort(s->out->row, s->out->rows, sizeof(*s->out->row), row_order);
	free(index);
	return 0;
}

int leak_scan(struct read_segment *segment, const struct leak_wish *wish, struct leak_result *out,
	char *message)
{
	struct scan s = { .segment = segment, .wish = wish, .out = out, .message = message };
	uint64_t start = clock_monotonic_ns();
	int rc;

	*out = (struct leak_result){ 0 };
	*message = '\0';
	s.space.pagemap = -1;
	rc = in_thread(&s);
	if (rc == 0)
		rc = loaders_mark(&s);
	if (rc == 0)
		rc = leak_graph_classify(&s.graph);
	if (rc == 0)
		rc = result_make(&s);
	if (rc != 0 && !*message)
		snprintf(message, LEAK_MESSAGE_MAX, "no leak scan: %s", strerror(-rc));
	leak_space_close(&s.space);
	leak_graph_free(&s.graph);
	leak_blocks_free(&s.blocks);
	if (rc != 0)
		leak_result_free(out);
	out->scan_ns = clock_monotonic_ns() - start;
	return rc;
}

void leak_result_free(struct leak_result *r)
{
	free(r->row);
	r->row = NULL;
	r->rows = 0;
}
