/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sum that many threads change, without a shared write at each change: each thread has a share of
 * it (struct ht_share), and moves its contribution to a shared word when that exceeds a limit.
 * Linux calls this a per-CPU counter with a batch; here it also has a peak.
 *
 * Why a peak is off by less than n limits for n shares: let T be the true sum, W the shared word.
 * Between events each share differs from its part of W by one limit at most, so W differs from T by
 * n. A thread that raises W notes the result, so the highest W is noted: not below the highest T by
 * more than n limits. A share also notes `others` + its own, where `others` is W, as it was then,
 * less its own. At that moment W lacked only the contributions of n - 1 shares, and its own has
 * since grown by one limit at most: not above the highest T by more than n limits. With one share
 * `others` is 0, and it notes T.
 *
 * Only its owner writes a share; others read its words at any time. The owner may change, as that
 * of a thread slot. Where a share has several owners at once, only counter_batch_add is called.
 */
#ifndef SHM_COUNTER_BATCH_H
#define SHM_COUNTER_BATCH_H

#include "shm/commit.h"

/* Live bytes may be below zero, of a share for good and of a sum for a moment. */
HT_HOT bool counter_batch_above(uint64_t a, uint64_t b)
{
	return (int64_t)a > (int64_t)b;
}

/* The sum's peak, as far as this share knows. */
static inline uint64_t counter_batch_peak(const struct ht_share *p)
{
	uint64_t now = p->high + p->others;

	return counter_batch_above(now, p->peak) ? now : p->peak;
}

/* Notes that the owner's part has become `live`, the highest yet. False: it has to settle instead.
 */
HT_HOT bool counter_batch_up(struct ht_share *p, uint64_t live)
{
	if (counter_batch_above(live, p->ceiling))
		return false;
	ht_store_relaxed_64(&p->high, live);
	return true;
}

/* What an owner is about to add, in its private memory; zero at first. A signal handler may abandon
 * it between the addition and its note; the sum itself shows which: changed or not. If another
 * thread changed it in between, the guess may be wrong, once, by the contribution of one share. */
struct counter_batch_adding {
	struct ht_share *share; /* NULL: nothing */
	uint64_t *sum;
	uint64_t before; /* of the sum */
	uint64_t live; /* the new `settled` */
};

/* Finishes an abandoned addition. Before anything else that the owner does with its shares. */
void counter_batch_repair(struct counter_batch_adding *a);

/* Fills in a new share, as if it had just settled nothing: so that its first events need not. */
void counter_batch_begin(struct ht_share *p, const uint64_t *sum);

/* Sets the trip wire at the owner's part, `live`: what falls below it settles. And removes it. */
static inline void counter_batch_arm(struct ht_share *p, uint64_t live)
{
	ht_store_relaxed_64(&p->low, live);
}
void counter_batch_disarm(struct ht_share *p, uint32_t shares);

/* Settles with `sum` if the owner's part, now `live`, is outside the limits. Those of `shares`
 * shares add up to a fixed part of the peak, unless it is small. True: a new peak. */
bool counter_batch_settle(struct counter_batch_adding *a, struct ht_share *p, uint64_t *sum,
	uint64_t live, uint32_t shares);

/* Adds to `sum` at once, on behalf of a share that any thread may use at any time. True: a new
 * peak. */
bool counter_batch_add(const struct segment *s, struct ht_share *p, uint64_t *sum, uint64_t bytes);

#endif
