/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the event rings of a segment, and asking for events (read.h; the protocol is in
 * shm/ring.h). Main thread.
 */
#include <errno.h>
#include <string.h>

#include "shm/ring.h"
#include "src/read/segment.h"

#define RING_PIECE 64u /* records fetched by one read */

/* A ring as ring_read expects it. */
struct ring_at {
	struct read_segment *s;
	uint32_t slot;
};

static uint64_t thread_word(const struct ring_at *r, size_t at)
{
	return r->s->header->region[HT_REGION_THREADS].offset + r->slot * sizeof(struct ht_thread) +
	       at;
}

static int ring_head(void *ctx, uint64_t *head)
{
	const struct ring_at *r = ctx;

	return read_at(
		r->s, thread_word(r, offsetof(struct ht_thread, ring_head)), head, sizeof(*head));
}

/* A slot without a ring has written nothing. */
static int ring_records(void *ctx, uint32_t index, uint32_t count, struct ht_event *e)
{
	const struct ring_at *r = ctx;
	uint64_t first = (uint64_t)r->slot * HT_RING_EVENTS + index;

	if (first + count > read_capacity(r->s, HT_REGION_RINGS, sizeof(*e))) {
		memset(e, 0, count * sizeof(*e));
		return 0;
	}
	return read_elements(r->s, HT_REGION_RINGS, first, count, sizeof(*e), e);
}

/* Lets the slot's owner write over what was read. */
static int tail_publish(struct ring_at *at, uint64_t tail)
{
	ht_fence_release(); /* TAIL: the copies before the tail */
	return read_header_put(
		at->s, thread_word(at, offsetof(struct ht_thread, ring_tail)), &tail, sizeof(tail));
}

ssize_t read_events_of(struct read_segment *s, uint32_t slot, struct ht_event *out, uint32_t max,
	bool give_up, uint64_t *lost)
{
	struct ring_at at = { s, slot };
	const struct ring_source source = { &at, ring_head, ring_records };
	uint64_t before;
	int got;

	if (slot >= read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread)))
		return -EINVAL;
	before = s->cursors[slot];
	if (slot == 0)
		return ring_read_shared(&source, &s->cursors[0], out, max, give_up, lost);
	got = ring_read(&source, &s->cursors[slot], out, max, lost);
	if (got >= 0 && s->events_held && s->cursors[slot] != before)
		(void)tail_publish(&at, s->cursors[slot]);
	return got;
}

/* Drains one ring, once around at most if the program writes faster than we read. */
static ssize_t ring_drain(struct read_segment *s, uint32_t slot,
	void (*visit)(void *, uint32_t, const struct ht_event *), void *ctx, uint64_t *lost)
{
	struct ht_event events[RING_PIECE];
	ssize_t total = 0, got;

	while ((got = read_events_of(s, slot, events, RING_PIECE, true, lost)) > 0) {
		for (ssize_t i = 0; i < got; i++)
			visit(ctx, slot, &events[i]);
		total += got;
		if (total > 2 * (ssize_t)HT_RING_EVENTS)
			break;
	}
	return got < 0 ? got : total;
}

ssize_t read_events_slots(struct read_segment *s)
{
	uint32_t used;
	int rc = read_used(s, offsetof(struct ht_header, threads), HT_REGION_THREADS,
		sizeof(struct ht_thread), &used);

	return rc != 0 ? rc : (ssize_t)used;
}

/* Calls `each` for all rings in use. */
static int rings_each(struct read_segment *s, int (*each)(struct ring_at *at))
{
	struct ring_at at = { .s = s };
	ssize_t slots = read_events_slots(s);
	int rc = slots < 0 ? (int)slots : 0;

	for (; rc == 0 && at.slot < slots; at.slot++)
		rc = each(&at);
	return rc;
}

/* Moves the cursor to the end of a ring. */
static int ring_skip(struct ring_at *at)
{
	return ring_head(at, &at->s->cursors[at->slot]);
}

static int ring_hold(struct ring_at *at)
{
	return tail_publish(at, at->s->cursors[at->slot]);
}

int read_events_request(struct read_segment *s, uint64_t until_ns)
{
	const size_t at = offsetof(struct ht_header, events_until);
	uint64_t there = 0;
	int rc = s->events_asked ? 0 : rings_each(s, ring_skip);

	if (rc == 0)
		rc = read_at(s, at, &there, sizeof(there));
	if (rc == 0 && there < until_ns) /* another viewer may want them for longer */
		rc = read_header_put(s, at, &until_ns, sizeof(until_ns));
	s->events_asked |= rc == 0;
	return rc;
}

int read_events_continue(struct read_segment *s)
{
	s->events_asked = true; /* the cursors are at the rings' beginnings */
	return 0;
}

int read_events_hold(struct read_segment *s, uint64_t until_ns)
{
	int rc = s->events_held ? 0 : rings_each(s, ring_hold);

	if (rc == 0)
		rc = read_header_put(
			s, offsetof(struct ht_header, events_wait), &until_ns, sizeof(until_ns));
	s->events_held = rc == 0 && until_ns != 0;
	return rc;
}

int read_events_waits(struct read_segment *s, uint64_t *waits, uint64_t *waited_ns)
{
	int rc = read_at(s, offsetof(struct ht_header, events_waits), waits, sizeof(*waits));

	return rc ? rc
		  : read_at(s, offsetof(struct ht_header, events_waited_ns), waited_ns,
			    sizeof(*waited_ns));
}

ssize_t read_events(struct read_segment *s,
	void (*visit)(void *, uint32_t, const struct ht_event *), void *ctx, uint64_t *lost)
{
	ssize_t total = 0;

	for (uint32_t slot = 0; slot < s->threads; slot++) {
		ssize_t got = ring_drain(s, slot, visit, ctx, lost);

		if (got < 0)
			return got;
		total += got;
	}
	return total;
}
