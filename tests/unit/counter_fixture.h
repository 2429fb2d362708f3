/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adds up what was counted, for the tests of shm/: of one site over its counters, of the program
 * over its slots. Written apart from src/read, which does the same for viewers.
 */
#ifndef TESTS_UNIT_COUNTER_FIXTURE_H
#define TESTS_UNIT_COUNTER_FIXTURE_H

#include "shm/counter.h"
#include "tests/unit/shm_fixture.h"

struct counted {
	uint64_t allocs, frees, alloc_bytes, live_bytes, temporary;
	uint64_t peak; /* as readers have it */
	uint64_t size_allocs[HT_SIZE_BUCKETS], size_frees[HT_SIZE_BUCKETS], life[HT_LIFE_BUCKETS];
	uint32_t counters, hists; /* how many of them there are */
};

static inline void counted_peak(struct counted *out, const struct ht_share *p)
{
	uint64_t peak = counter_batch_peak(p);

	if (counter_batch_above(peak, out->peak))
		out->peak = peak;
}

static inline void counted_lives(struct counted *out, uint64_t frees, const uint64_t *life)
{
	out->life[0] += frees;
	for (uint32_t i = 1; i < HT_LIFE_BUCKETS; i++) {
		out->life[i] += life[i];
		out->life[0] -= life[i];
	}
}

static inline void counted_hist(
	const struct segment *s, struct counted *out, const struct ht_counter *c)
{
	uint32_t bucket = ht_counter_size(c->key);
	bool mixed = bucket == HT_SIZE_MIXED || bucket == HT_SIZE_ANY;
	struct ht_hist own = { .life = { 0 } };

	for (uint32_t i = 0; i < HT_FEW_BUCKETS && c->hist == HT_HIST_FEW; i++) {
		own.size_allocs[i] = c->few_allocs >> 4 * i & 15;
		own.size_frees[i] = c->few_frees >> 4 * i & 15;
		own.life[i] = c->few_lives >> 4 * i & 15;
	}
	if (c->hist != 0 && c->hist != HT_HIST_FEW) {
		own = *(struct ht_hist *)segment_at(
			s, segment_element(s, HT_REGION_HISTS, c->hist, sizeof(own)));
		out->hists++;
	}
	if (mixed && c->hist == 0)
		return; /* refused */
	counted_lives(out, c->frees, own.life);
	for (uint32_t i = 0; i < HT_SIZE_BUCKETS; i++) {
		if (i == bucket) {
			out->size_allocs[i] += c->allocs;
			out->size_frees[i] += c->frees;
		} else if (mixed || bucket == HT_SIZE_FEW) {
			out->size_allocs[i] += own.size_allocs[i];
			out->size_frees[i] += own.size_frees[i];
		}
	}
}

static inline void counted_counter(
	const struct segment *s, struct counted *out, const struct ht_counter *c)
{
	out->allocs += c->allocs;
	out->frees += c->frees;
	out->alloc_bytes += c->alloc_bytes;
	out->live_bytes += c->alloc_bytes - c->free_bytes;
	out->temporary += c->temporary;
	out->counters++;
	counted_peak(out, &c->share);
	counted_hist(s, out, c);
}

static inline struct counted counted_site(const struct segment *s, uint32_t site)
{
	const struct ht_site *e = stack_site(s, site);
	struct counted out = { 0 };

	for (uint32_t i = e->counters; i != 0; i = counter_at(s, i)->next) {
		CHECK_INT(ht_counter_site(counter_at(s, i)->key), site);
		counted_counter(s, &out, counter_at(s, i));
	}
	if (site == 0 || e->shared != 0)
		counted_counter(s, &out, counter_at(s, site == 0 ? 0 : e->shared));
	if (counter_batch_above(out.live_bytes, out.peak))
		out.peak = out.live_bytes;
	return out;
}

static inline struct counted counted_program(const struct segment *s)
{
	struct counted out = { 0 };

	for (uint32_t i = 0; i < s->header->threads; i++) {
		const struct ht_thread *t = thread_at(s, i);
		uint64_t frees = 0;

		for (uint32_t b = 0; b < HT_SIZE_BUCKETS; b++) {
			out.size_allocs[b] += t->size[b].allocs;
			out.size_frees[b] += t->size[b].frees;
			out.allocs += t->size[b].allocs;
			frees += t->size[b].frees;
			out.alloc_bytes += t->size[b].alloc_bytes;
			out.live_bytes += t->size[b].alloc_bytes - t->size[b].free_bytes;
		}
		out.frees += frees;
		counted_lives(&out, frees, t->life);
		out.temporary += t->temporary;
		counted_peak(&out, &t->share);
	}
	if (counter_batch_above(out.live_bytes, out.peak))
		out.peak = out.live_bytes;
	return out;
}

/* Slots 1 to `count` are owned, and `owners` count in them, slot 0's included. */
static inline void counted_owners(
	const struct segment *s, struct counter_owner *owners, uint32_t count)
{
	memset(owners, 0, (count + 1) * sizeof(*owners));
	for (uint32_t slot = 0; slot <= count; slot++) {
		if (slot != 0)
			CHECK_INT(thread_claim(s, 1000 + slot, NULL), slot);
		counter_own(s, &owners[slot], slot);
	}
}

#endif
