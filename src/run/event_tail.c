/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latest allocations at one call site (event_tail.h). One thread. */
#include "src/run/event_tail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/read.h"
#include "src/util/clock.h"

#define BATCH	  1024u /* events of one read */
#define WANTED_NS 5000000000ull /* the program writes events for so long after the last update */

struct event_tail {
	struct read_segment *segment;
	uint32_t site;
	uint64_t missed, next_number;
	struct event_tail_line line[2 * EVENT_TAIL_LINES]; /* the last ones are in use */
	size_t count;
	int changed;
	struct read_thread threads[HT_SLOTS_MAX];
	ssize_t nthreads;
	struct ht_event batch[BATCH];
};

struct event_tail *event_tail_open(const char *path, uint32_t site, char *message)
{
	struct event_tail *t = calloc(1, sizeof(*t));
	int rc;

	if (!t) {
		snprintf(message, EVENT_TAIL_MESSAGE_MAX, "cannot follow events: out of memory");
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
	snprintf(message, EVENT_TAIL_MESSAGE_MAX, "cannot follow events: %s", strerror(-rc));
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

/* Room for one more line; the older half goes when all is full. */
static struct event_tail_line *line_add(struct event_tail *t)
{
	if (t->count == 2 * EVENT_TAIL_LINES) {
		memmove(t->line, t->line + EVENT_TAIL_LINES, EVENT_TAIL_LINES * sizeof(*t->line));
		t->count = EVENT_TAIL_LINES;
	}
	return &t->line[t->count++];
}

static void alloc_take(struct event_tail *t, uint32_t slot, const struct ht_event *e)
{
	*line_add(t) = (struct event_tail_line){ .number = t->next_number++,
		.ns = e->tick << HT_TICK_SHIFT,
		.slot = slot,
		.tid = tid_of(t, slot),
		.addr = e->addr,
		.size = e->size };
	t->changed++;
}

/* The latest live block at that address. Its allocation may have been missed. */
static void free_take(struct event_tail *t, uint32_t slot, const struct ht_event *e)
{
	uint64_t ns = e->tick << HT_TICK_SHIFT;

	for (size_t i = t->count; i > 0; i--) {
		struct event_tail_line *l = &t->line[i - 1];

		if (l->addr != e->addr)
			continue;
		if (l->freed || l->size != e->size)
			return;
		l->freed = true;
		l->freed_after_ns = ns > l->ns ? ns - l->ns : 0;
		l->freed_by = slot;
		t->changed++;
		return;
	}
}

/* A free that another thread made is missed if its ring is read before that of the allocation. */
static int rings_read(struct event_tail *t, ssize_t slots)
{
	for (ssize_t slot = 0; slot < slots; slot++) {
		ssize_t got;

		do {
			got = read_events_of(
				t->segment, (uint32_t)slot, t->batch, BATCH, true, &t->missed);
			if (got < 0)
				return (int)got;
			for (ssize_t i = 0; i < got; i++)
				if (t->batch[i].site != t->site)
					continue;
				else if (t->batch[i].kind == HT_EVENT_ALLOC)
					alloc_take(t, (uint32_t)slot, &t->batch[i]);
				else
					free_take(t, (uint32_t)slot, &t->batch[i]);
		} while (got == (ssize_t)BATCH);
	}
	return 0;
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
		rc = slots < 0 ? (int)slots : rings_read(t, slots);
	return rc ? rc : t->changed;
}

size_t event_tail_lines(const struct event_tail *t, const struct event_tail_line **lines)
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
	free(t);
}
