/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One call site in depth (event_detail.h). Ages are in spans that halve: the second half of the
 * program's life, the quarter before it, and so on, and one for blocks from before the recording.
 * Main thread.
 */
#include "src/record/event_detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/record/event_blocks.h"

#define SPANS  (SNAP_AGES - 1u)
#define BEFORE SPANS /* number of the span of blocks from before the recording */

struct detailing {
	uint32_t site;
	struct event_until until;
	uint64_t end_ns, events;
	struct snap_detail *out;
	struct event_blocks births; /* by number + 1; `number` is the span, `slot` the thread's */
	struct snap_site_thread thread[EVENT_SLOTS_MAX];
	struct snap_age age[SNAP_AGES];
	bool failed;
};

/* The span of blocks of this age; the youngest is number 0. */
static unsigned span_of(const struct detailing *d, uint64_t age_ns)
{
	unsigned span = SPANS - 1;

	while (span > 0 && age_ns <= d->end_ns >> (SPANS - span))
		span--;
	return span;
}

static void alloc_take(struct detailing *d, const struct event *e)
{
	struct snap_size *size = &d->out->sizes[snap_size_bucket(e->size)];
	struct snap_site_thread *t = &d->thread[e->slot % EVENT_SLOTS_MAX];
	uint64_t born = e->tick << EVENT_TICK_SHIFT;
	bool before = e->kind == EVENT_BEFORE;
	struct event_block b = { .key = e->number + 1,
		.number = before ? BEFORE : span_of(d, d->end_ns > born ? d->end_ns - born : 0),
		.tick = e->tick,
		.slot = before ? EVENT_SLOTS_MAX : e->slot % EVENT_SLOTS_MAX };
	struct snap_age *age = &d->age[b.number];

	d->failed |= !event_blocks_add(&d->births, &b);
	size->allocs++;
	size->live_blocks++;
	size->live_bytes += e->size;
	age->allocs++;
	age->alive_blocks++;
	age->alive_bytes += e->size;
	d->out->alive_bytes += e->size;
	if (before)
		return;
	t->allocs++;
	t->alloc_bytes += e->size;
	t->live_blocks++;
	t->live_bytes += e->size;
}

static void free_take(struct detailing *d, const struct event *e)
{
	struct event_block *b = event_blocks_find(&d->births, e->number + 1);
	struct snap_size *size = &d->out->sizes[snap_size_bucket(e->size)];
	struct snap_site_thread *by = &d->thread[e->slot % EVENT_SLOTS_MAX];

	by->frees++;
	by->free_bytes += e->size;
	if (!b)
		return; /* damage: its allocation is missing */
	size->live_blocks--;
	size->live_bytes -= e->size;
	d->age[b->number].alive_blocks--;
	d->age[b->number].alive_bytes -= e->size;
	d->out->alive_bytes -= e->size;
	d->out->lifetimes[snap_life_bucket((e->tick - b->tick) << EVENT_TICK_SHIFT)]++;
	if (b->slot < EVENT_SLOTS_MAX) {
		d->thread[b->slot].live_blocks--;
		d->thread[b->slot].live_bytes -= e->size;
	}
	event_blocks_remove(&d->births, b);
}

static void event_take(void *ctx, const struct event *e)
{
	struct detailing *d = ctx;

	if (e->tick > d->until.ns >> EVENT_TICK_SHIFT || d->events >= d->until.events)
		return;
	d->events++;
	if (e->kind == EVENT_LOST || e->site != d->site)
		return;
	if (e->kind == EVENT_FREE)
		free_take(d, e);
	else
		alloc_take(d, e);
}

static int thread_order(const void *left, const void *right)
{
	const struct snap_site_thread *a = left, *b = right;

	if (a->alloc_bytes != b->alloc_bytes)
		return a->alloc_bytes > b->alloc_bytes ? -1 : 1;
	return a->slot < b->slot ? -1 : 1;
}

static void threads_give(struct detailing *d)
{
	unsigned n = 0;

	for (uint32_t slot = 0; slot < EVENT_SLOTS_MAX; slot++) {
		d->thread[slot].slot = slot;
		if (d->thread[slot].allocs > 0 || d->thread[slot].frees > 0)
			d->thread[n++] = d->thread[slot];
	}
	qsort(d->thread, n, sizeof(*d->thread), thread_order);
	d->out->nthreads = n < SNAP_SITE_THREADS ? n : SNAP_SITE_THREADS;
	d->out->more_threads = n - d->out->nthreads;
	memcpy(d->out->thread, d->thread, d->out->nthreads * sizeof(*d->thread));
	d->out->has_alive = true;
}

static void ages_give(struct detailing *d)
{
	uint64_t from = 0;

	for (unsigned i = 0; i < SPANS; i++) {
		d->age[i].youngest_ns = from;
		d->age[i].oldest_ns = from = d->end_ns >> (SPANS - 1 - i);
	}
	d->age[BEFORE].is_before = true;
	d->out->nages = d->age[BEFORE].allocs > 0 ? SPANS + 1 : SPANS;
	memcpy(d->out->age, d->age, sizeof(d->age));
	d->out->has_ages = true;
}

int event_detail_read(struct event_recording *r, uint32_t stream, struct event_until until,
	uint64_t end_ns, uint32_t site, struct snap_detail *out)
{
	struct detailing *d = calloc(1, sizeof(*d));
	struct event_sink sink = { d, event_take };
	int rc;

	*out = (struct snap_detail){ .id = site };
	if (!d)
		return -ENOMEM;
	*d = (struct detailing){ .site = site, .until = until, .end_ns = end_ns, .out = out };
	rc = event_read_each(r, stream, &sink);
	if (d->failed)
		rc = -ENOMEM;
	threads_give(d);
	ages_give(d);
	event_blocks_free(&d->births);
	free(d);
	return rc;
}
