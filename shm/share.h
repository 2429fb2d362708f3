/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sum that many threads change, without a shared write at each change: each has a share of it
 * (struct ht_share), and moves what has gathered there to a shared word when it is more than a
 * limit. What Linux calls a per-CPU counter with a batch, with a peak on top.
 *
 * Why a peak is off by less than n limits, n being the shares: let T be the true sum, W the shared
 * word. Between events each share differs from what W has of it by one limit at most, so W differs
 * from T by n. Whoever moves W up notes where it came to, so the highest W is noted: not below the
 * highest T by more than n limits. A share also notes `others` + its own, where `others` is W, as
 * it was then, less its own: at that moment W lacked only what n - 1 shares had gathered, and its
 * own has since grown by one limit at most: not above the highest T by more than n limits. With one
 * share `others` is 0, and what it notes is T.
 *
 * A share is its owner's; words are read by others at any time. The owner of a share may change, as
 * that of a thread slot. Where a share has several owners at once, share_add is all that is called.
 */
#ifndef SHM_SHARE_H
#define SHM_SHARE_H

#include "shm/commit.h"

/* Live bytes may be below zero, of a share for good and of a sum for a moment. */
HT_HOT bool share_above(uint64_t a, uint64_t b)
{
	return (int64_t)a > (int64_t)b;
}

/* The most that the sum was, as far as this share knows. */
static inline uint64_t share_peak(const struct ht_share *p)
{
	uint64_t now = p->high + p->others;

	return share_above(now, p->peak) ? now : p->peak;
}

/* The owner's own part has become `live`, the highest yet, unless false: then it has to settle. */
HT_HOT bool share_up(struct ht_share *p, uint64_t live)
{
	if (share_above(live, p->ceiling))
		return false;
	ht_store_relaxed_64(&p->high, live);
	return true;
}

/*
 * What an owner is about to add, in memory of its own; zero at first. A signal handler may leave
 * between the addition and the note that it was made, and which it was tells the sum: it is as it
 * was, or not. If another thread changed it in between, the guess may be wrong, once, by what a
 * share gathers.
 */
struct share_adding {
	struct ht_share *share; /* NULL: nothing */
	uint64_t *sum;
	uint64_t before; /* of the sum */
	uint64_t live; /* what `settled` becomes */
};

/* Finishes what was left. Before anything else that the owner does with its shares. */
void share_repair(struct share_adding *a);

/* Settles with `sum` if the owner's own part, `live` now, has left the limits. True: a new peak. */
bool share_settle(struct share_adding *a, struct ht_share *p, uint64_t *sum, uint64_t live);

/* Adds to `sum` at once, on behalf of a share that any thread may use at any time. True: a new
 * peak. */
bool share_add(const struct segment *s, struct ht_share *p, uint64_t *sum, uint64_t bytes);

#endif
