/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live table, read before the stop (live_table.h). A short stop comes before the long one;
 * since then the library notes which parts of the table it changes.
 */
#include "src/leak/live_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "src/leak/access/space.h"
#include "src/trace/stop.h"
#include "src/proc/proc.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/thread.h"

#define WATCH_BLOCKS  65536u /* with fewer, two stops take longer than one that reads all */
#define STOP_NS	      UINT64_C(20000000) /* for all threads, some 80 us each */
#define HOOKS_NS      UINT64_C(50000000) /* for threads to leave their hooks: microseconds */
#define HOOKS_STEP_NS 50000

/* Finds the words that say whether threads are inside hooks. False: that is unknown. */
static bool busy_note(struct leak_live_table *t, const struct trace_stop *stop)
{
	int64_t at = read_in_hook_at(t->segment);

	t->busy = calloc(stop->count + 1, sizeof(*t->busy));
	if (!t->busy || at == 0)
		return false;
	for (size_t i = 0; i < stop->count; i++) {
		uint64_t pointer = trace_stop_thread_pointer(&stop->thread[i]);

		if (stop->thread[i].state != TRACE_THREAD_STOPPED)
			continue;
		if (pointer == 0)
			return false;
		t->busy[t->busies++] = pointer + (uint64_t)at;
	}
	return true;
}

/* Waits until threads have left their hooks, whose changes are not noted. False: they took too
 * long, or cannot be read. */
static bool hooks_await(struct leak_live_table *t)
{
	const struct timespec step = { .tv_nsec = HOOKS_STEP_NS };
	uint64_t until = clock_monotonic_ns() + HOOKS_NS, word;
	struct leak_space space = { .pid = proc_memory_tid(t->pid), .pagemap = -1 };

	while (t->busies > 0) {
		if (!leak_space_word(&space, t->busy[t->busies - 1], &word) ||
			clock_monotonic_ns() > until)
			return false;
		if (word == 0)
			t->busies--;
		else
			nanosleep(&step, NULL);
	}
	return true;
}

static void *watch_start(void *ctx)
{
	struct leak_live_table *t = ctx;
	struct trace_stop stop;
	char message[TRACE_MESSAGE_MAX];
	uint64_t start_ns = clock_monotonic_ns();

	if (trace_stop_within(&stop, t->pid, STOP_NS, "scanned", message) != 0)
		return NULL;
	if (stop.whole && busy_note(t, &stop))
		t->watch = read_live_changes_new(t->segment);
	trace_stop_release(&stop);
	t->stop_ns = clock_monotonic_ns() - start_ns;
	return NULL;
}

static bool is_large(const struct leak_live_table *t)
{
	struct read_totals totals;

	return read_totals(t->segment, &totals) == 0 && totals.allocs > totals.frees &&
	       totals.allocs - totals.frees >= WATCH_BLOCKS;
}

bool leak_live_table_freeze(struct leak_live_table *t)
{
	t->frozen = read_live_copy_new(t->segment);
	return t->frozen != NULL;
}

void leak_live_table_watch(struct leak_live_table *t)
{
	pthread_t thread;

	/* A thread that has ended traces nothing, even if it could not release all. */
	if (!is_large(t) || thread_start(&thread, THREAD_STACK_BYTES, watch_start, t) != 0)
		return;
	pthread_join(thread, NULL);
	if (!t->watch)
		return;
	if (!hooks_await(t) || (t->frozen && read_live_copy_take(t->frozen, t->segment) != 0)) {
		read_live_changes_free(t->watch);
		t->watch = NULL;
	}
}

int leak_live_table_take(struct leak_live_table *t)
{
	if (!t->frozen)
		return 0;
	return t->watch ? read_live_copy_update(t->frozen, t->segment, t->watch)
			: read_live_copy_take(t->frozen, t->segment);
}

/* ---- blocks ---- */

struct leak_block leak_live_table_block(const struct read_block *b)
{
	return (struct leak_block){ b->addr, b->size, b->site, read_tick_pack(b->tick) };
}

static void block_add(void *ctx, const struct read_block *b)
{
	struct leak_live_table *t = ctx;
	struct leak_block block = leak_live_table_block(b);

	if (t->rc == 0)
		t->rc = leak_blocks_add(t->fresh, &block);
}

static void part_changed(void *ctx, uint64_t start, uint64_t end)
{
	struct leak_live_table *t = ctx;
	struct leak_range *p = array_grow(t->gone, t->gones, &t->gone_capacity, sizeof(*p));

	if (!p) {
		t->rc = -ENOMEM;
		return;
	}
	t->gone = p;
	t->gone[t->gones++] = (struct leak_range){ start, end };
}

int leak_live_table_read(struct leak_live_table *t, struct leak_blocks *blocks)
{
	ssize_t n;

	if (!t->watch || t->frozen)
		return 0;
	t->fresh = blocks;
	n = read_blocks_paged(t->segment, block_add, t);
	t->is_read = true;
	return n < 0 ? (int)n : t->rc != 0 ? t->rc : leak_blocks_finish(blocks);
}

int leak_live_table_patch(struct leak_live_table *t, struct leak_blocks *blocks)
{
	const struct read_changes changes = { t, part_changed, block_add };
	struct leak_blocks fresh = { 0 };
	ssize_t n;
	int rc;

	t->fresh = &fresh;
	n = read_blocks_changed(t->watch, &changes);
	rc = n < 0 ? (int)n : t->rc;
	if (rc == 0)
		rc = leak_blocks_patch(blocks, t->gone, t->gones, &fresh);
	leak_blocks_free(&fresh);
	return rc;
}

void leak_live_table_free(struct leak_live_table *t)
{
	read_live_copy_free(t->frozen);
	read_live_changes_free(t->watch);
	free(t->busy);
	free(t->gone);
	*t = (struct leak_live_table){ 0 };
}
