/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the event rings of a segment, and asking for events (read.h; the protocol is in
 * shm/ring.h). Main thread.
 */
#include "shm/ring.h"
#include "src/read/segment.h"

#define RING_PIECE 64u /* records fetched by one read */

/* A ring as ring_read expects it. Records are fetched in pieces, which are dropped when the head is
 * reread. */
struct ring_at {
	struct read_segment *s;
	uint32_t slot;
	uint32_t first, count; /* records [first, first + count) are in `piece` */
	struct ht_event piece[RING_PIECE];
};

static int ring_head(void *ctx, uint64_t *head)
{
	struct ring_at *r = ctx;

	r->count = 0;
	return read_at(r->s,
		r->s->header->region[HT_REGION_THREADS].offset +
			r->slot * sizeof(struct ht_thread) + offsetof(struct ht_thread, ring_head),
		head, sizeof(*head));
}

static int ring_record(void *ctx, uint32_t index, struct ht_event *e)
{
	struct ring_at *r = ctx;
	int rc = 0;

	if (index - r->first >= r->count) {
		r->first = index;
		r->count =
			HT_RING_EVENTS - index < RING_PIECE ? HT_RING_EVENTS - index : RING_PIECE;
		rc = read_elements(r->s, HT_REGION_RINGS,
			(uint64_t)r->slot * HT_RING_EVENTS + index, r->count, sizeof(*e), r->piece);
	}
	*e = r->piece[index - r->first];
	return rc;
}

/* Drains one ring. Slot 0 has no records: all its events are lost. */
static ssize_t ring_drain(struct read_segment *s, uint32_t slot,
	void (*visit)(void *, uint32_t, const struct ht_event *), void *ctx, uint64_t *lost)
{
	struct ring_at at = { .s = s, .slot = slot };
	const struct ring_source source = { &at, ring_head, ring_record };
	struct ht_event events[RING_PIECE];
	ssize_t total = 0;
	int got;

	if (slot == 0) {
		uint64_t head;

		got = ring_head(&at, &head);
		if (got == 0 && head > s->cursors[0]) {
			*lost += head - s->cursors[0];
			s->cursors[0] = head;
		}
		return got;
	}
	while ((got = ring_read(&source, &s->cursors[slot], events, RING_PIECE, lost)) > 0) {
		for (int i = 0; i < got; i++)
			visit(ctx, slot, &events[i]);
		total += got;
		if (total > 2 * (ssize_t)HT_RING_EVENTS) /* the program writes faster than we read:
							    stop for now */
			break;
	}
	return got < 0 ? got : total;
}

/* Moves the cursors to the ends of all rings. */
static int events_skip(struct read_segment *s)
{
	struct ring_at at = { .s = s };
	uint64_t capacity = read_capacity(s, HT_REGION_THREADS, sizeof(struct ht_thread));
	uint32_t used;
	int rc = read_at(s, offsetof(struct ht_header, threads), &used, sizeof(used));

	for (; rc == 0 && at.slot < used && at.slot < capacity; at.slot++)
		rc = ring_head(&at, &s->cursors[at.slot]);
	return rc;
}

int read_events_request(struct read_segment *s, uint64_t until_ns)
{
	const size_t at = offsetof(struct ht_header, events_until);
	uint64_t there = 0;
	int rc = s->events_asked ? 0 : events_skip(s);

	if (rc == 0)
		rc = read_at(s, at, &there, sizeof(there));
	if (rc == 0 && there < until_ns) /* another viewer may want them for longer */
		rc = read_header_put(s, at, &until_ns, sizeof(until_ns));
	s->events_asked |= rc == 0;
	return rc;
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
