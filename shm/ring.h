/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline: one ring per thread slot, single producer, written only while a viewer wants
 * events. By default the producer overwrites, never waits and never reads a reader's state; the
 * head shows a reader what it lost. A reader that must lose nothing publishes a tail, and the
 * producer asks (ring_limit) how far it may write before an unread record would be overwritten. The
 * shared slot 0 has many producers, which never wait: its records carry a mark.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include "shm/thread.h"

/* Whether a viewer wants events now. Relaxed: a thread that sees it late misses the first ones. */
static inline bool ring_is_wanted(const struct segment *s)
{
	return ht_load_relaxed_64(&s->header->events_until) >
	       ht_load_relaxed_64(&s->header->clock_ns);
}

/* The ring of `slot`, populated. NULL: no memory, or the slot has none. Costs a system call. */
struct ht_event *ring_open(const struct segment *s, uint32_t slot);

/* The ring's owner may write events below this one without overwriting what the published tail
 * says is unread. */
static inline uint64_t ring_limit(const struct ht_thread *t)
{
	return ht_load_acquire_64(&t->ring_tail) + HT_RING_EVENTS - 1; /* TAIL */
}

/* Appends an event to the calling thread's ring; without one it is only counted. */
HT_HOT void ring_append(struct ht_thread *t, struct ht_event *ring, const struct ht_event *e)
{
	uint64_t head = ht_load_relaxed_64(&t->ring_head); /* ours alone */
	struct ht_event *r = &ring[head % HT_RING_EVENTS];

	if (__builtin_expect(ring != NULL, 1)) {
		ht_fence_release(); /* RING: the last head before this record's words */
		ht_store_relaxed_64(&r->addr, e->addr);
		ht_store_relaxed_64(&r->size, e->size);
		ht_store_relaxed_64(&r->tick, e->tick);
		ht_store_relaxed_32(&r->site, e->site);
		ht_store_relaxed_32(&r->kind, e->kind);
	}
	ht_store_release_64(&t->ring_head, head + 1); /* RING: the record before the head */
}

/* Appends an event to the shared slot's ring. Any thread, also in a signal handler. */
void ring_push_shared(const struct segment *s, const struct ht_event *e);
/* The same for a caller with only the slot. */
void ring_push(const struct segment *s, uint32_t slot, const struct ht_event *e);

/* A reader's access to a ring: `head` loads ht_thread.ring_head with acquire; `records` copies
 * `count` records from number `index` on (below HT_RING_EVENTS, not past the ring's end). Either
 * may return -errno, which ends the read. */
struct ring_source {
	void *ctx;
	int (*head)(void *ctx, uint64_t *head);
	int (*records)(void *ctx, uint32_t index, uint32_t count, struct ht_event *e);
};

/*
 * Copies events from *cursor on (0 at first) into `out`, oldest first, at most `max`. Advances
 * *cursor past them, and adds to *lost those overwritten before they could be copied, and those
 * never written for lack of memory. Every returned event is whole. Returns their number, or -errno;
 * 0: there were none when it began. Any process.
 */
int ring_read(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, uint64_t *lost);
/* The same for slot 0's ring. Stops at an event that is not whole yet, with -EAGAIN if that is the
 * first; `give_up`: counts it as lost instead, since its writer may never finish it. */
int ring_read_shared(const struct ring_source *source, uint64_t *cursor, struct ht_event *out,
	uint32_t max, bool give_up, uint64_t *lost);

#endif
