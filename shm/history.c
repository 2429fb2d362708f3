/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The history. `writer` admits one thread at a time and turns others away, so nothing waits. It
 * holds the writer's slot + 1, and the time of its entry. A signal handler may abandon a writer by
 * longjmp, between any two instructions. So a thread that finds its own slot there takes over,
 * since it never enters twice at once; slot 0 has many owners, and never counts as the thread's
 * own. Other threads take over after a second: a writer takes microseconds, and if it was only
 * descheduled for so long, the points that both write at once are in range. Each step leaves a
 * state that the next writer can continue.
 */
#include "shm/history.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#define SINCE_BITS  48u /* of `writer` */
#define SINCE_SHIFT 16u /* its clock, in units of 65.5 us */
#define SINCE_MASK  ((1ull << SINCE_BITS) - 1)
#define LEFT_UNITS  15259u /* a second */

static uint64_t writer_of(uint32_t slot, uint64_t now_ns)
{
	return (slot + 1ull) << SINCE_BITS | (now_ns >> SINCE_SHIFT & SINCE_MASK);
}

/* Whether the writer found has abandoned its work. */
static bool is_left(uint64_t found, uint64_t mine)
{
	uint64_t since = found & SINCE_MASK, now = mine & SINCE_MASK;

	if (found >> SINCE_BITS == mine >> SINCE_BITS && mine >> SINCE_BITS != 1)
		return true;
	return now > since && now - since > LEFT_UNITS;
}

static bool writer_enter(struct ht_history *h, uint64_t mine)
{
	uint64_t found = ht_load_relaxed_64(&h->writer);

	if (found != 0 && !is_left(found, mine))
		return false;
	return ht_cas_acquire_64(&h->writer, &found, mine); /* HISTORY */
}

/* Unless another writer has taken over. */
static void writer_leave(struct ht_history *h, uint64_t mine)
{
	(void)ht_cas_acq_rel_64(&h->writer, &mine, 0); /* HISTORY */
}

/* Sets point i to the larger of points 2i and 2i + 1. None of these is overwritten before i is
 * counted, so a pair may be merged twice. */
static void merge_go_on(struct ht_history *h)
{
	uint32_t points = h->merging;

	for (uint32_t i = h->merged; i < (points + 1) / 2 && i < HT_HISTORY_POINTS / 2; i++) {
		ht_store_relaxed_64(&h->point[i],
			larger(h->point[2 * i], 2 * i + 1 < points ? h->point[2 * i + 1] : 0));
		ht_fence_handler();
		ht_store_relaxed_32(&h->merged, i + 1);
		ht_fence_handler();
	}
	ht_store_relaxed_32(&h->points, (points + 1) / 2);
	ht_store_relaxed_64(&h->step_ns, h->merged_step_ns);
	ht_fence_handler();
	ht_store_release_64(&h->sequence, h->sequence + 1); /* HISTORY */
}

/* Halves the resolution. The sequence is odd meanwhile, so that a reader rejects a mixture. */
static void merge_neighbours(struct ht_history *h)
{
	ht_store_relaxed_32(&h->merging, h->points);
	ht_store_relaxed_32(&h->merged, 0);
	ht_store_relaxed_64(&h->merged_step_ns, h->step_ns * 2);
	ht_fence_handler();
	ht_store_relaxed_64(&h->sequence, h->sequence + 1);
	ht_fence_release(); /* HISTORY: the odd sequence before the points move */
	merge_go_on(h);
}

/*
 * Notes `live` in point `index`. Without a note there was no event, so nothing changed in the
 * points between: their value was the one before this event. The last point may be a peak within
 * its step, and `live` may include the first event after the quiet time; the smaller one invents
 * nothing.
 */
static void point_set(struct ht_history *h, uint64_t index, uint64_t live)
{
	uint32_t points = h->points;
	uint64_t last = points ? h->point[points - 1] : 0;

	if (index + 1 <= points) {
		ht_store_relaxed_64(&h->point[points - 1], larger(last, live));
		return;
	}
	for (uint64_t i = points; i < index; i++)
		ht_store_relaxed_64(&h->point[i], last < live ? last : live);
	ht_store_relaxed_64(&h->point[index], live);
	ht_fence_handler();
	ht_store_release_32(&h->points, (uint32_t)index + 1); /* HISTORY */
}

void history_note(const struct segment *s, uint32_t slot, uint64_t now_ns, uint64_t live)
{
	struct ht_history *h = &s->header->history;
	uint64_t elapsed = now_ns - s->header->created_ns, at, mine;

	if (now_ns < s->header->created_ns || (int64_t)live < 0)
		return;
	/* Same point and nothing higher: no need to enter. Relaxed: a mixture of two steps costs
	 * one note. */
	at = elapsed / ht_load_relaxed_64(&h->step_ns);
	if (at < HT_HISTORY_POINTS && at + 1 == ht_load_relaxed_32(&h->points) &&
		live <= ht_load_relaxed_64(&h->point[at]))
		return;
	mine = writer_of(slot, now_ns);
	if (!writer_enter(h, mine))
		return;
	if (h->sequence % 2 != 0)
		merge_go_on(h);
	while ((at = elapsed / h->step_ns) >= HT_HISTORY_POINTS)
		merge_neighbours(h);
	/* HISTORY: a reader that sees a point of this step also sees the sequence of the merge that
	 * led to it, be it another thread's. */
	ht_fence_release();
	point_set(h, at, live);
	writer_leave(h, mine);
}
