/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline's two ends: ring_append runs in hooks, ring_read in viewers. Edge RING of
 * shm/layout.h, in both directions: a reader that sees the head sees the records below it; and a
 * reader that saw any word of a record being overwritten will see, when it reloads the head, at
 * least the head that was published before that overwriting began, and so knows which of its copies
 * to discard. The scheme is that of the kernel's perf ring buffer in overwrite mode. Slot 0 has
 * many writers, so its head says nothing about a record: the record's mark does.
 */
#include "shm/ring.h"

static struct ht_event *ring_at(const struct segment *s, uint32_t slot)
{
	return segment_at(s, segment_element(s, HT_REGION_RINGS, slot,
				     HT_RING_EVENTS * sizeof(struct ht_event)));
}

struct ht_event *ring_open(const struct segment *s, uint32_t slot)
{
	uint64_t bytes = HT_RING_EVENTS * sizeof(struct ht_event);
	uint64_t at = segment_element(s, HT_REGION_RINGS, slot, bytes);
	uint64_t pages = (bytes + COMMIT_PAGE - 1) / COMMIT_PAGE * COMMIT_PAGE;

	if (slot >= segment_capacity(s, HT_REGION_RINGS, bytes) || commit_pages(s, at, pages) != 0)
		return NULL;
	return ring_at(s, slot);
}

/* Slot 0's ring. That it is populated is noted in the region's part. Relaxed: each thread's own
 * system call, or that of a thread that it follows, has populated it. */
static struct ht_event *ring_shared(const struct segment *s)
{
	struct segment_part *part = segment_part(s, HT_REGION_RINGS);

	if (ht_load_relaxed_32(&part->pages) == 0) {
		if (!ring_open(s, 0))
			return NULL;
		ht_store_relaxed_32(&part->pages, 1);
	}
	return ring_at(s, 0);
}

void ring_push_shared(const struct segment *s, const struct ht_event *e)
{
	struct ht_event *ring = ring_shared(s), *r;
	uint64_t index = ht_add_relaxed_64(&thread_at(s, 0)->ring_head, 1);

	if (!ring)
		return;
	r = &ring[index % HT_RING_EVENTS];
	ht_store_relaxed_64(&r->addr, e->addr);
	ht_store_relaxed_64(&r->size, e->size);
	ht_store_relaxed_64(&r->tick, e->tick);
	ht_store_relaxed_32(&r->site, e->site);
	ht_store_release_32(&r->kind, ht_event_mark(e, index)); /* RING */
}

void ring_push(const struct segment *s, uint32_t slot, const struct ht_event *e)
{
	if (slot == 0)
		ring_push_shared(s, e);
	else
		ring_append(thread_at(s, slot), ring_open(s, slot), e);
}

/* Events below this one may be overwritten, even now: the slot of `head` itself is in use. */
static uint64_t oldest_whole(uint64_t head)
{
	return head < HT_RING_EVENTS ? 0 : head - HT_RING_EVENTS + 1;
}

static void skip_to(uint64_t *cursor, uint64_t to, uint64_t *lost)
{
	if (*cursor >= to)
		return;
	*lost += to - *cursor;
	*cursor = to;
}

/* Copies events [from, from + count), in one or two pieces. */
static int records_copy(
	const struct ring_source *source, uint64_t from, uint32_t count, struct ht_event *out)
{
	uint32_t index = (uint32_t)(from % HT_RING_EVENTS);
	uint32_t first = count < HT_RING_EVENTS - index ? count : HT_RING_EVENTS - index;
	int rc = count > 0 ? source->records(source->ctx, index, first, out) : 0;

	if (rc >= 0 && first < count)
		rc = source->records(source->ctx, 0, count - first, out + first);
	return rc;
}

/* The next events to copy: *cursor and their number. Negative: -errno. */
static int64_t next_run(
	const struct ring_source *source, uint64_t *cursor, uint32_t max, uint64_t *lost)
{
	uint64_t head;
	int rc = source->head(source->ctx, &head); /* RING: acquire */

	if (rc < 0)
		return rc;
	if (head < *cursor)
		return -EPROTO; /* heads only grow: not a ring of ours */
	skip_to(cursor, oldest_whole(head), lost);
	return (int64_t)(head - *cursor < max ? head - *cursor : max);
}

/* One run of events. *unwritten: those of them that were never written. *end: the head. */
static int read_run(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, uint64_t *lost, uint32_t *unwritten, uint64_t *end)
{
	uint64_t first;
	uint32_t count, stale;
	int64_t run = next_run(source, cursor, max, lost);
	int rc;

	*unwritten = 0;
	if (run < 0)
		return (int)run;
	count = (uint32_t)run;
	first = *cursor;
	rc = records_copy(source, first, count, out);
	if (rc < 0)
		return rc;
	ht_fence_acquire(); /* RING: the copies before the second load of the head */
	rc = source->head(source->ctx, end);
	if (rc < 0)
		return rc;
	/* Below the head and never written: there was no memory for them. Only the oldest events
	 * can be so, as memory once populated stays. */
	while (*unwritten < count && out[*unwritten].kind == 0)
		++*unwritten;
	skip_to(cursor, first + *unwritten, lost);
	skip_to(cursor, oldest_whole(*end), lost);
	stale = *cursor - first > count ? count : (uint32_t)(*cursor - first);
	__builtin_memmove(out, out + stale, (count - stale) * sizeof(*out));
	*cursor += count - stale;
	return (int)(count - stale);
}

int ring_read(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, uint64_t *lost)
{
	uint64_t head = 0, end = 0;
	uint32_t unwritten;
	int got;

	do {
		got = read_run(source, cursor, out, max, lost, &unwritten, &head);
		end = end > 0 ? end : head; /* a head that runs away is not followed */
	} while (got == 0 && unwritten > 0 && *cursor < end);
	return got;
}

/* Whether the record was, or is being, overwritten by a later event. */
static bool is_gone(const struct ring_source *source, uint64_t index)
{
	uint64_t head;

	return source->head(source->ctx, &head) >= 0 && index < oldest_whole(head);
}

int ring_read_shared(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, bool give_up, uint64_t *lost)
{
	int64_t run = next_run(source, cursor, max, lost);
	uint64_t first = *cursor;
	int given = 0, rc;

	if (run < 0)
		return (int)run;
	rc = records_copy(source, *cursor, (uint32_t)run, out);
	if (rc < 0)
		return rc;
	for (int64_t i = 0; i < run; i++, ++*cursor) {
		if ((out[i].kind & HT_EVENT_KIND) &&
			out[i].kind == ht_event_mark(&out[i], *cursor)) {
			out[given] = out[i];
			out[given++].kind &= HT_EVENT_KIND;
		} else if (give_up || is_gone(source, *cursor)) {
			++*lost;
		} else {
			break;
		}
	}
	return given == 0 && *cursor == first && run > 0 ? -EAGAIN : given;
}
