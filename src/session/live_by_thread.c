/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live blocks per allocating thread (live_by_thread.h). Called by the live walk, on the main
 * thread. */
#include "src/session/live_by_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/clock.h"

#define STEP_NS	  900000000ull /* a second, less the jitter of a 1 Hz tick */
#define WINDOW_NS 10500000000ull /* the longest span that a rate covers, as for all rates */

int live_by_thread_start(struct live_by_thread *a, const struct read_segment *s, uint32_t site)
{
	uint32_t counters = read_counters(s);
	struct live_by_thread_sum *grown;

	a->known = false;
	if (counters > a->room) {
		grown = realloc(a->counter, (counters + counters / 2) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		a->counter = grown;
		a->room = counters + counters / 2;
	}
	if (a->room > 0)
		memset(a->counter, 0, a->room * sizeof(*a->counter));
	memset(a->slot, 0, sizeof(a->slot));
	a->all = a->at_site = (struct live_by_thread_sum){ 0 };
	a->site = site;
	return 0;
}

static void sum_add(struct live_by_thread_sum *sum, const struct live_group *g)
{
	sum->blocks += g->blocks;
	sum->bytes += g->bytes;
}

void live_by_thread_group(struct live_by_thread *a, const struct live_group *g)
{
	sum_add(&a->all, g);
	if (g->site == a->site)
		sum_add(&a->at_site, g);
	sum_add(&a->slot[g->slot % HT_SLOTS_MAX], g);
	if (g->counter < a->room)
		sum_add(&a->counter[g->counter], g);
}

/* ---- growth ------------------------------------------------------------------------------- */

static void past_keep(struct live_by_thread *a, uint64_t now_ns)
{
	unsigned at = a->points % LIVE_BY_THREAD_POINTS;

	if (a->points > 0 && now_ns - a->past_ns[(a->points - 1) % LIVE_BY_THREAD_POINTS] < STEP_NS)
		return;
	if (!a->past)
		a->past = calloc(HT_SLOTS_MAX, sizeof(*a->past));
	if (!a->past)
		return;
	for (unsigned i = 0; i < HT_SLOTS_MAX; i++)
		a->past[i][at] = a->slot[i].bytes;
	a->past_ns[at] = now_ns;
	a->points++;
}

void live_by_thread_end(struct live_by_thread *a, uint64_t now_ns)
{
	a->known = true;
	a->counted_ns = now_ns;
	past_keep(a, now_ns);
}

/* In bytes per second, between the latest reading and the oldest one within the window. */
static double growth_of(const struct live_by_thread *a, uint32_t slot, bool *known)
{
	unsigned last, first;

	*known = false;
	if (a->points < 2)
		return 0;
	last = first = a->points - 1;
	while (first > 0 && last - first < LIVE_BY_THREAD_POINTS - 1 &&
		a->past_ns[last % LIVE_BY_THREAD_POINTS] -
				a->past_ns[(first - 1) % LIVE_BY_THREAD_POINTS] <=
			WINDOW_NS)
		first--;
	if (first == last)
		return 0;
	*known = true;
	return ((double)a->past[slot][last % LIVE_BY_THREAD_POINTS] -
		       (double)a->past[slot][first % LIVE_BY_THREAD_POINTS]) *
	       1e9 /
	       (double)(a->past_ns[last % LIVE_BY_THREAD_POINTS] -
			a->past_ns[first % LIVE_BY_THREAD_POINTS]);
}

/* ---- the snapshot ------------------------------------------------------------------------- */

static struct live_by_thread_sum of_counter(const struct live_by_thread *a, uint32_t counter)
{
	return counter < a->room ? a->counter[counter] : (struct live_by_thread_sum){ 0 };
}

void live_by_thread_fill(const struct live_by_thread *a, struct snapshot *s)
{
	struct snap_thread *thread = (struct snap_thread *)(uintptr_t)s->threads;
	struct snap_share *share = (struct snap_share *)(uintptr_t)s->shares;

	s->has_alive = a->known;
	s->alive_bytes = a->all.bytes;
	if (!a->known)
		return;
	s->alive_age_ns = clock_monotonic_ns() - a->counted_ns;
	for (size_t i = 0; i < s->nthreads; i++) {
		uint32_t slot = thread[i].slot % HT_SLOTS_MAX;

		thread[i].live_blocks = a->slot[slot].blocks;
		thread[i].live_bytes = a->slot[slot].bytes;
		thread[i].live_bytes_per_s = growth_of(a, slot, &thread[i].has_rate);
		if (snapshot_ended(s)) {
			thread[i].live_bytes_per_s = 0;
			thread[i].has_rate = true;
		}
	}
	for (size_t i = 0; i < s->nshares; i++) {
		struct live_by_thread_sum sum = of_counter(a, share[i].counter);

		share[i].live_blocks = sum.blocks;
		share[i].live_bytes = sum.bytes;
	}
}

void live_by_thread_fill_site(const struct live_by_thread *a, struct snap_detail *d)
{
	d->has_alive = a->known && a->site == d->id;
	d->alive_bytes = a->at_site.bytes;
	for (unsigned i = 0; d->has_alive && i < d->nthreads; i++) {
		struct live_by_thread_sum sum = of_counter(a, d->thread[i].counter);

		d->thread[i].live_blocks = sum.blocks;
		d->thread[i].live_bytes = sum.bytes;
	}
}

void live_by_thread_free(struct live_by_thread *a)
{
	free(a->counter);
	free(a->past);
	*a = (struct live_by_thread){ 0 };
}
