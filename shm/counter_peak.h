/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The composition of the program's peak: what each counter had live when the program had the most
 * live bytes. Any thread, inside hooks.
 *
 * The header has an epoch. It grows when the total has made a new maximum and then falls, just
 * before the free that ends it is counted. The first event of a counter in a new epoch saves what
 * the counter has live before it counts itself. So at any time a counter had, at the start of the
 * newest epoch, what it saved in that epoch, or else what it has now. While the total is above that
 * of the newest epoch, the peak is now.
 *
 * An event pays nothing for this but one load: a counter's epoch is in the half of its key that
 * each event compares with a size bucket, and a key of an older epoch takes the way of an
 * unexpected size. A maximum that ends is found by a comparison that exists, too: a slot whose
 * event makes a new maximum raises the low limit of its share to its live bytes, and its next free
 * settles. What one event costs more is paid while the heap grows.
 *
 * With one slot in use, the saved values are those of the peak, to the byte. (After HT_EPOCH_EXACT
 * epochs a maximum must pass the last by one part in HT_PEAK_PART: so epochs never run out.)
 *
 * With n slots it is a cut through the program: each slot's counters are as of when it first saw
 * the epoch, which differs by the events then in flight. A free in flight that itself finds its
 * slot below a limit is put after the epoch: the other took its block for live. What may be wrong
 * is which moment it is. Let L be the sum of the slots' limits (counter_batch.h): 1/HT_SETTLE_PART
 * of the peak, or n times HT_SETTLE_LEAST. Slots know the total to within L. A slot that made no
 * maximum notices a fall when it settles, so all slots may have lost 2 L since the highest total
 * when the first one settles. It starts an epoch unless there is one of no less, as far as both
 * knew: so the total of the composition is not below the peak by more than 4 L and one part in
 * HT_PEAK_PART, by which a maximum must pass the last one here. Mostly the slot that makes the
 * maximum ends it, and the two are equal. (Limits of the time when there were fewer slots are
 * larger until their slots settle.)
 *
 * Slot 0's counters have many writers, and may save a moment of their own that differs by the
 * events then in flight.
 */
#ifndef SHM_COUNTER_PEAK_H
#define SHM_COUNTER_PEAK_H

#include "shm/counter_batch.h"

#define HT_PEAK_PART   65536u
#define HT_EPOCH_EXACT (1u << 26) /* after them at most 47 x ln 2 x HT_PEAK_PART can follow */

/* An event's contribution: one block and its size, or the weight of a sampled one. */
struct counter_sum {
	uint64_t blocks, bytes;
};

static inline struct ht_counter *counter_at(const struct segment *s, uint32_t counter)
{
	return segment_at(
		s, segment_element(s, HT_REGION_COUNTERS, counter, sizeof(struct ht_counter)));
}

/* Whether this total would start an epoch by falling. */
HT_HOT bool counter_peak_is_new(const struct segment *s, uint64_t total)
{
	return counter_batch_above(total, ht_load_relaxed_64(&s->header->peak_least));
}

HT_HOT uint32_t counter_peak_epoch(const struct segment *s)
{
	return ht_load_relaxed_32(&s->header->peak_epoch) >> HT_SIZE_BITS;
}

/* Saves what an owner's counter has live, and `more`, as of an epoch. */
static inline void counter_peak_save(
	struct ht_at_peak *out, struct ht_counter *c, uint32_t epoch, struct counter_sum more)
{
	uint64_t blocks = c->allocs - c->frees + more.blocks;
	uint32_t size = ht_counter_size(c->key);

	ht_store_relaxed_64(&out->bytes, c->alloc_bytes - c->free_bytes + more.bytes);
	ht_store_release_64(&out->blocks, ht_at_peak_word(epoch, blocks)); /* PEAK */
	ht_fence_release(); /* PEAK */
	ht_store_relaxed_64(
		&c->key, (uint32_t)c->key | (uint64_t)(epoch << HT_SIZE_BITS | size) << 32);
}

/* Before an event of a counter is counted, by its owner: saves what it has live if that is not done
 * in this epoch. */
void counter_peak_keep(const struct segment *s, struct ht_counter *c);
/* The same for a counter of slot 0. */
void counter_peak_keep_shared(const struct segment *s, struct ht_counter *c);

/* The total, as far as is known, fell from `total` by the free of `sum`, which the counter has
 * counted: starts an epoch, as of before that, if the total was a new maximum. */
void counter_peak_fell(
	const struct segment *s, struct ht_counter *c, struct counter_sum sum, uint64_t total);

#endif
