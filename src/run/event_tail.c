/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The latest allocations at one call site (event_tail.h). A pass reads the new events of all rings,
 * then takes the site's allocations in order of time, then its frees: a block may be freed by a
 * thread whose ring is read before that of the thread that allocated it. One thread.
 */
#include "src/run/event_tail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/read.h"
#include "src/util/array.h"
#include "src/util/clock.h"

#define BATCH	  1024u /* events of one read */
#define WANTED_NS 5000000000ull /* the program writes events for so long after the last update */
#define LINES	  (2 * EVENT_TAIL_LINES) /* so that the older half goes at once */

/* An event of the site. `place`: in its ring, counted by this reader. */
struct tail_event {
	uint64_t addr, size, tick, place;
	uint32_t slot;
	bool again; /* a free whose block was not found in the pass before */
};

struct tail_events {
	struct tail_event *event;
	size_t count, capacity;
};

struct event_tail {
	struct read_segment *segment;
	uint32_t site;
	uint64_t missed, next_number;
	struct event_line line[LINES]; /* the last ones are in use */
	uint64_t place[LINES]; /* of each line's allocation */
	size_t count;
	int changed;
	uint64_t read[HT_SLOTS_MAX]; /* events of each ring so far */
	struct tail_events allocs, frees; /* of this pass */
	struct read_thread threads[HT_SLOTS_MAX];
	ssize_t nthreads;
	struct ht_event batch[BATCH];
};

void event_tail_error(int error, char *message)
{
	snprintf(message, EVENT_TAIL_MESSAGE_MAX, "cannot follow events: %s", strerror(-error));
}

struct event_tail *event_tail_open(const char *path, uint32_t site, char *message)
{
	struct event_tail *t = calloc(1, sizeof(*t));
	int rc;

	if (!t) {
		event_tail_error(-ENOMEM, message);
		return NULL;
	}
	t->site = site;
	t->next_number = 1;
	t->segment = read_open(path, message);
	if (!t->segment) {
		free(t);
		return NULL;
	}
	rc = read_events_request(t->segment, clock_monotonic_ns() + WANTED_NS);
	if (rc == 0)
		return t;
	event_tail_error(rc, message);
	event_tail_close(t);
	return NULL;
}

static uint32_t tid_of(const struct event_tail *t, uint32_t slot)
{
	for (ssize_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].slot == slot)
			return t->threads[i].tid;
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int event_keep(struct event_tail *t, uint32_t slot, const struct ht_event *e)
{
	struct tail_events *to = e->kind == HT_EVENT_ALLOC ? &t->allocs : &t->frees;
	struct tail_event *grown =
		array_grow(to->event, to->count, &to->capacity, sizeof(*to->event));

	if (!grown)
		return -ENOMEM;
	to->event = grown;
	to->event[to->count++] = (struct tail_event){ .addr = e->addr,
		.size = e->size,
		.tick = e->tick,
		.place = t->read[slot],
		.slot = slot };
	return 0;
}

/* Once around at most: a program may write as fast as we read, or say so. */
static int ring_read_new(struct event_tail *t, uint32_t slot)
{
	size_t total = 0;
	ssize_t got;
	int rc = 0;

	do {
		got = read_events_of(t->segment, slot, t->batch, BATCH, true, &t->missed);
		if (got < 0)
			return (int)got;
		total += (size_t)got;
		for (ssize_t i = 0; i < got && rc == 0; i++) {
			t->read[slot]++;
			if (t->batch[i].site == t->site)
				rc = event_keep(t, slot, &t->batch[i]);
		}
	} while (got == (ssize_t)BATCH && total < HT_RING_EVENTS && rc == 0);
	return rc;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* By time; of one thread in its own order. */
static int tail_event_compare(const void *a, const void *b)
{
	const struct tail_event *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void alloc_take(struct event_tail *t, const struct tail_event *e)
{
	if (t->count == LINES) {
		t->count = EVENT_TAIL_LINES;
		memmove(t->line, t->line + EVENT_TAIL_LINES, t->count * sizeof(*t->line));
		memmove(t->place, t->place + EVENT_TAIL_LINES, t->count * sizeof(*t->place));
	}
	t->place[t->count] = e->place;
	t->line[t->count++] = (struct event_line){ .number = t->next_number++,
		.ns = e->tick << HT_TICK_SHIFT,
		.slot = e->slot,
		.tid = tid_of(t, e->slot),
		.addr = e->addr,
		.size = e->size };
	t->changed++;
}

/* Could the allocation of line `i` have been before this free? Within one tick, only the order in
 * one thread is known. */
static bool is_before(const struct event_tail *t, size_t i, const struct tail_event *f)
{
	if (t->line[i].slot == f->slot)
		return t->place[i] < f->place;
	return t->line[i].ns <= f->tick << HT_TICK_SHIFT;
}

static bool is_after(const struct event_tail *t, size_t i, const struct tail_event *f)
{
	if (t->line[i].slot == f->slot)
		return t->place[i] > f->place;
	return t->line[i].ns >= f->tick << HT_TICK_SHIFT;
}

/*
 * The line of the block that was freed, or LINES: its allocation was missed. It is before the free,
 * and the next block at its address after it. If two lines may be meant, it is the older one: the
 * other block could not have that address before.
 */
static size_t freed_find(const struct event_tail *t, const struct tail_event *f)
{
	size_t found = LINES, next = LINES;

	for (size_t i = t->count; i-- > 0;) {
		const struct event_line *l = &t->line[i];

		if (l->addr != f->addr)
			continue;
		if (is_before(t, i, f) && !l->freed && l->size == f->size &&
			(next == LINES || is_after(t, next, f)))
			found = i;
		/* Older ones were freed before this one was allocated. */
		if (!is_after(t, i, f))
			break;
		next = i;
	}
	return found;
}

/* False: no block is known for it; `own`: none of the same thread. */
static bool free_take(struct event_tail *t, const struct tail_event *f, bool own)
{
	uint64_t ns = f->tick << HT_TICK_SHIFT;
	size_t i = freed_find(t, f);

	if (i == LINES || (own && t->line[i].slot != f->slot))
		return false;
	t->line[i].freed = true;
	t->line[i].freed_after_ns = ns - t->line[i].ns;
	t->line[i].freed_by = f->slot;
	t->changed++;
	return true;
}

/* First those of blocks of the same thread, whose order is known. */
static void frees_sweep(struct event_tail *t, bool own)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->frees.count; i++)
		if (!free_take(t, &t->frees.event[i], own))
			t->frees.event[kept++] = t->frees.event[i];
	t->frees.count = kept;
}

/* A free that was read before its allocation waits for the next pass. */
static void frees_take(struct event_tail *t)
{
	size_t kept = 0;

	frees_sweep(t, true);
	frees_sweep(t, false);
	for (size_t i = 0; i < t->frees.count; i++) {
		if (t->frees.event[i].again)
			continue;
		t->frees.event[kept] = t->frees.event[i];
		t->frees.event[kept++].again = true;
	}
	t->frees.count = kept;
}

static int pass(struct event_tail *t, ssize_t slots)
{
	int rc = 0;

	t->allocs.count = 0;
	for (ssize_t slot = 0; slot < slots && slot < (ssize_t)HT_SLOTS_MAX && rc == 0; slot++)
		rc = ring_read_new(t, (uint32_t)slot);
	if (t->allocs.count > 1)
		qsort(t->allocs.event, t->allocs.count, sizeof(*t->allocs.event),
			tail_event_compare);
	for (size_t i = 0; i < t->allocs.count; i++)
		alloc_take(t, &t->allocs.event[i]);
	frees_take(t);
	return rc;
}

int event_tail_update(struct event_tail *t)
{
	ssize_t slots = read_events_slots(t->segment);
	struct read_totals totals;
	int rc = read_events_request(t->segment, clock_monotonic_ns() + WANTED_NS);

	if (rc == 0)
		rc = read_totals(t->segment, &totals); /* for the number of threads */
	if (rc == 0)
		t->nthreads = read_threads(t->segment, t->threads, HT_SLOTS_MAX);
	t->changed = 0;
	if (rc == 0)
		rc = slots < 0 ? (int)slots : pass(t, slots);
	return rc ? rc : t->changed;
}

size_t event_tail_lines(const struct event_tail *t, const struct event_line **lines)
{
	size_t shown = t->count < EVENT_TAIL_LINES ? t->count : EVENT_TAIL_LINES;

	*lines = t->line + t->count - shown;
	return shown;
}

uint64_t event_tail_missed(const struct event_tail *t)
{
	return t->missed;
}

void event_tail_close(struct event_tail *t)
{
	if (!t)
		return;
	read_close(t->segment);
	free(t->allocs.event);
	free(t->frees.event);
	free(t);
}
