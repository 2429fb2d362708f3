/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Epochs of the peak (counter_peak.h). Inside hooks, on any thread. Edge PEAK of shm/layout.h is
 * kept here.
 *
 * Which epoch is the newest, and its total, are one word (peak_state), so that of two threads that
 * start one the higher total wins. The words that events read follow it. A thread that stops, or
 * whose signal handler never returns, in between leaves them behind; the next thread that finds a
 * fall, at the latest when it has lost a limit, moves them on.
 */
#include "shm/counter_peak.h"

/* A total in the low bits of peak_state: bytes, or, with the highest of these bits, units of 4 KB,
 * rounded up: no total starts two epochs. */
#define TOTAL_BITS  HT_AT_PEAK_BITS
#define TOTAL_LARGE (1ull << (TOTAL_BITS - 1))
#define LARGE_SHIFT 12u

static uint64_t state_of(uint32_t epoch, uint64_t total)
{
	if (total >= TOTAL_LARGE)
		total = ((total + (1ull << LARGE_SHIFT) - 1) >> LARGE_SHIFT) | TOTAL_LARGE;
	return (uint64_t)epoch << TOTAL_BITS | total;
}

static uint32_t epoch_of(uint64_t state)
{
	return (uint32_t)(state >> TOTAL_BITS);
}

static uint64_t total_of(uint64_t state)
{
	uint64_t total = state & (TOTAL_LARGE - 1);

	return state & TOTAL_LARGE ? total << LARGE_SHIFT : total;
}

/* The total that a maximum must pass to start the next epoch. */
static uint64_t least_of(const struct segment *s, uint64_t state)
{
	uint64_t total = total_of(state);
	bool exact =
		ht_load_relaxed_32(&s->header->threads) <= 2 && epoch_of(state) < HT_EPOCH_EXACT;

	return exact ? total : total + total / HT_PEAK_PART;
}

/* Moves the words that events read on to this state. */
static void publish(const struct segment *s, uint64_t state)
{
	struct ht_header *h = s->header;
	uint32_t epoch = epoch_of(state) << HT_SIZE_BITS, now = ht_load_relaxed_32(&h->peak_epoch);
	uint64_t least = least_of(s, state);

	/* PEAK: relaxed, as a save ends with a fence. */
	while (now < epoch && !ht_cas_relaxed_32(&h->peak_epoch, &now, epoch))
		;
	/* One that is too old only lets a slot settle in vain. */
	if (ht_load_relaxed_64(&h->peak_least) != least)
		ht_store_relaxed_64(&h->peak_least, least);
}

static struct ht_at_peak *at_peak_of(const struct segment *s, const struct ht_counter *c)
{
	uint64_t number = (uint64_t)(c - counter_at(s, 0));

	return segment_at(
		s, segment_element(s, HT_REGION_AT_PEAK, number, sizeof(struct ht_at_peak)));
}

/* The same as counter_peak_save for slot 0's. One of several threads saves; the bytes may be
 * another's, which differ by the events in flight. */
static void save_shared(
	const struct segment *s, struct ht_counter *c, uint32_t epoch, struct counter_sum more)
{
	struct ht_at_peak *out = at_peak_of(s, c);
	uint64_t before, blocks, bytes;

	if (epoch == 0)
		return;
	before = ht_load_relaxed_64(&out->blocks);
	if (ht_at_peak_epoch(before) >= epoch)
		return;
	blocks = ht_load_relaxed_64(&c->allocs) - ht_load_relaxed_64(&c->frees);
	bytes = ht_load_relaxed_64(&c->alloc_bytes) - ht_load_relaxed_64(&c->free_bytes);
	ht_store_relaxed_64(&out->bytes, bytes + more.bytes);
	(void)ht_cas_acq_rel_64(
		&out->blocks, &before, ht_at_peak_word(epoch, blocks + more.blocks)); /* PEAK */
	ht_fence_release(); /* PEAK */
}

void counter_peak_keep(const struct segment *s, struct ht_counter *c)
{
	const struct counter_sum none = { 0, 0 };
	uint32_t epoch = counter_peak_epoch(s);

	if (ht_counter_kept(c) >> HT_SIZE_BITS != epoch)
		counter_peak_save(at_peak_of(s, c), c, epoch, none);
}

void counter_peak_keep_shared(const struct segment *s, struct ht_counter *c)
{
	const struct counter_sum none = { 0, 0 };

	save_shared(s, c, counter_peak_epoch(s), none);
}

/* Saves what the counter had before `sum` was freed. */
static void save_before(
	const struct segment *s, struct ht_counter *c, uint32_t epoch, struct counter_sum sum)
{
	if (ht_counter_slot(c->key) == 0)
		save_shared(s, c, epoch, sum);
	else if (ht_counter_kept(c) >> HT_SIZE_BITS < epoch)
		counter_peak_save(at_peak_of(s, c), c, epoch, sum);
}

/* What the one that starts an epoch saves comes before the epoch is published: who sees the epoch
 * sees it. If another thread has just started one, this free is in flight, and the other took its
 * block for live: the counter saves it, too. */
void counter_peak_fell(
	const struct segment *s, struct ht_counter *c, struct counter_sum sum, uint64_t total)
{
	uint64_t *word = &s->header->peak_state, state = ht_load_relaxed_64(word);

	while (counter_batch_above(total, least_of(s, state)) && epoch_of(state) != HT_EPOCH_LAST) {
		uint64_t next = state_of(epoch_of(state) + 1, total);

		if (ht_cas_relaxed_64(word, &state, next))
			state = next;
	}
	save_before(s, c, epoch_of(state), sum);
	publish(s, state);
}
