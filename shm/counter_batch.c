/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settling of shares (counter_batch.h). Inside hooks, on any thread. */
#include "shm/counter_batch.h"

static uint64_t higher(uint64_t a, uint64_t b)
{
	return counter_batch_above(a, b) ? a : b;
}

/* The limit of a share's contribution. */
static uint64_t limit_of(uint64_t peak, uint32_t shares)
{
	return higher(peak / HT_SETTLE_PART / shares, HT_SETTLE_LEAST);
}

void counter_batch_repair(struct counter_batch_adding *a)
{
	if (!a->share)
		return;
	if (ht_load_relaxed_64(a->sum) != a->before)
		ht_store_relaxed_64(&a->share->settled, a->live);
	a->share = NULL;
}

/* Adds the missing contribution to the sum. Returns the new sum. */
static uint64_t settle(
	struct counter_batch_adding *a, struct ht_share *p, uint64_t *sum, uint64_t live)
{
	uint64_t more = live - p->settled, before = ht_load_relaxed_64(sum);
	bool added = false;

	if (more == 0)
		return before;
	while (!added) {
		a->share = NULL;
		ht_fence_handler();
		a->sum = sum;
		a->before = before;
		a->live = live;
		ht_fence_handler();
		a->share = p;
		ht_fence_handler();
		added = ht_cas_relaxed_64(sum, &before, before + more);
		ht_fence_handler();
	}
	ht_store_relaxed_64(&p->settled, live);
	ht_fence_handler();
	a->share = NULL;
	return before + more;
}

/* Notes the state of the sum, `all`, of which `live` is the own part: the highest yet is `peak`. */
static void note(struct ht_share *p, uint64_t all, uint64_t live, uint64_t peak, uint64_t limit)
{
	uint64_t others = all - live;

	ht_store_relaxed_64(&p->peak, peak);
	ht_store_relaxed_64(&p->others, others);
	ht_store_relaxed_64(&p->low, live - limit);
	ht_store_relaxed_64(&p->ceiling, live + limit);
	ht_store_relaxed_64(&p->high,
		counter_batch_above(peak - others, live + limit) ? live + limit : peak - others);
}

/* Both limits are as far from where it settled. (If there were fewer shares then, it settles a
 * little early.) A share that never did keeps its zeros. */
void counter_batch_disarm(struct ht_share *p, uint32_t shares)
{
	if (p->ceiling != 0)
		ht_store_relaxed_64(&p->low, p->ceiling - 2 * limit_of(p->peak, shares));
}

void counter_batch_begin(struct ht_share *p, const uint64_t *sum)
{
	uint64_t all = ht_load_relaxed_64(sum);

	note(p, all, 0, higher(0, all), limit_of(higher(0, all), 1));
	ht_store_relaxed_64(&p->low, 0); /* more frees than allocations are some other's blocks */
}

/* The new `high` is the own part at which the peak would be passed; not above the ceiling, so that
 * one comparison covers both. */
bool counter_batch_settle(struct counter_batch_adding *a, struct ht_share *p, uint64_t *sum,
	uint64_t live, uint32_t shares)
{
	uint64_t before = counter_batch_peak(p), all, peak;

	if (!counter_batch_above(live, p->ceiling) && !counter_batch_above(p->low, live))
		return false;
	all = settle(a, p, sum, live);
	peak = higher(before, all);
	note(p, all, live, peak, limit_of(peak, shares));
	return counter_batch_above(peak, before);
}

bool counter_batch_add(const struct segment *s, struct ht_share *p, uint64_t *sum, uint64_t bytes)
{
	uint64_t all = segment_sum(s, sum, bytes), peak = ht_load_relaxed_64(&p->peak);

	while (counter_batch_above(all, peak))
		if (ht_cas_relaxed_64(&p->peak, &peak, all))
			return true;
	return false;
}
