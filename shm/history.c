/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The history. `writer` admits one thread at a time and turns others away, so nothing waits; a
 * writer that is killed inside leaves it taken, which only stops the history of a program that is
 * gone.
 */
#include "shm/history.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Halves the resolution. The sequence is odd meanwhile, so that a reader takes no mixture. */
static void merge_neighbours(struct ht_history *h)
{
	uint32_t points = h->points;

	ht_store_relaxed_64(&h->sequence, h->sequence + 1);
	ht_fence_release();
	for (uint32_t i = 0; i < points; i += 2)
		ht_store_relaxed_64(&h->point[i / 2],
			larger(h->point[i], i + 1 < points ? h->point[i + 1] : 0));
	ht_store_relaxed_32(&h->points, (points + 1) / 2);
	ht_store_relaxed_64(&h->step_ns, h->step_ns * 2);
	ht_store_release_64(&h->sequence, h->sequence + 1);
}

/*
 * Notes `live` in point `index`. No note meant no event, so in the points between nothing changed:
 * the value then was the one before this event. What is known of it is the last point, which may
 * be a peak within that step, and `live`, which may count the first event after the quiet time; the
 * smaller one invents nothing.
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
	ht_store_release_32(&h->points, (uint32_t)index + 1);
}

void history_note(const struct segment *s, uint64_t now_ns, uint64_t live)
{
	struct ht_history *h = &s->header->history;
	uint64_t elapsed = now_ns - s->header->created_ns, at;
	uint32_t free = 0;

	if (now_ns < s->header->created_ns || (int64_t)live < 0)
		return;
	/* Same point and nothing higher: no need to take the writer's word. Relaxed: a mixture of
	 * two steps costs one note. */
	at = elapsed / ht_load_relaxed_64(&h->step_ns);
	if (at < HT_HISTORY_POINTS && at + 1 == ht_load_relaxed_32(&h->points) &&
		live <= ht_load_relaxed_64(&h->point[at]))
		return;
	if (!ht_cas_acquire_32(&h->writer, &free, 1))
		return;
	while (elapsed / h->step_ns >= HT_HISTORY_POINTS)
		merge_neighbours(h);
	/* A reader that sees a point of this step also sees the sequence of the merge that led to
	 * it, be it another thread's. */
	ht_fence_release();
	point_set(h, elapsed / h->step_ns, live);
	ht_store_release_32(&h->writer, 0);
}
