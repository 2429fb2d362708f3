/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting: what each block does to the counter of its site and to its thread's slot. The owner of
 * a slot counts with plain loads and stores, in lines that no other thread writes; slot 0 with
 * atomic adds. Each number is exact by itself at any moment, and all agree when the program is
 * quiet. Any thread, inside hooks.
 */
#ifndef SHM_COUNTER_H
#define SHM_COUNTER_H

#include "shm/share.h"
#include "shm/stack.h"
#include "shm/thread.h"

/* Histogram bucket of a size: 0 holds sizes up to 8, then up to 16, 32, ... */
static inline uint32_t counter_size_bucket(uint64_t size)
{
	uint64_t below = size - (size != 0); /* the last size of a bucket has all bits set */
	uint32_t bucket = (63u ^ (uint32_t)__builtin_clzll(below | 7)) - 2;

	return bucket < HT_SIZE_BUCKETS ? bucket : HT_SIZE_BUCKETS - 1;
}

/* Histogram bucket of a lifetime in ticks: below 1, 4, 16, ... */
static inline uint32_t counter_life_bucket(uint64_t ticks)
{
	uint32_t bucket = ticks == 0 ? 0 : (65u - (uint32_t)__builtin_clzll(ticks)) / 2;

	return bucket < HT_LIFE_BUCKETS ? bucket : HT_LIFE_BUCKETS - 1;
}

static inline struct ht_counter *counter_at(const struct segment *s, uint32_t counter)
{
	return segment_at(
		s, segment_element(s, HT_REGION_COUNTERS, counter, sizeof(struct ht_counter)));
}

/*
 * What the owner of a slot counts with, in its private memory. `counter` remembers where its
 * counters are, by site; each entry is proved by the counter's key. Two sites that meet in one
 * entry cost each other a search.
 */
#define COUNTER_SITES 8192u
struct counter_owner {
	struct ht_thread *thread; /* the slot */
	struct ht_counter *counters; /* number 0 */
	struct ht_hist *hists; /* number 0 */
	uint64_t key; /* of its counters, but for site and size; slot 0: none is like that */
	uint32_t slot;
	uint32_t counter[COUNTER_SITES]; /* of slot 0: all 0, since it has many owners */
};

/* Fills a zeroed one. */
void counter_own(const struct segment *s, struct counter_owner *o, uint32_t slot);

/*
 * A block came to life, or ended, at `site`, by the owner of a slot. A counter that is not there is
 * made; when there is no memory for it, the block counts at the catch-all site, and the header says
 * so.
 */
static inline void counter_alloc(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size);

struct counter_end {
	uint64_t size;
	uint64_t life_ticks;
	bool temporary; /* freed by its own thread, as that thread's very next event */
};
static inline void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_end *end);

/*
 * The program's live bytes, as the owner of `slot` knows them: exact while it is the only one that
 * counts, else off by less than a limit of each other slot.
 */
static inline uint64_t counter_live(const struct segment *s, uint32_t slot)
{
	const struct ht_thread *t = thread_at(s, slot);
	uint64_t others = ht_load_relaxed_64(&s->header->live_bytes);

	return slot ? others + t->live_bytes - t->share.settled : others;
}

/*
 * The counter of a slot at a site, made if there is none. Where a private one is not to be had it
 * is that of slot 0, and where that is not either, counter 0. Only the owner of a slot may ask.
 */
uint32_t counter_claim(const struct segment *s, uint32_t site, uint32_t slot);

/* ---- how it is done ---- */

/* Events that need more than to be counted: no counter yet, none of one's own, another size. */
void counter_alloc_other(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size);
void counter_free_other(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_end *end);
/* The first block that ended in lifetime bucket 1 or a later one. */
void counter_life_first(const struct segment *s, struct ht_counter *c, uint32_t bucket);

/* The counter's histogram; NULL: it has none. */
static inline struct ht_hist *counter_hist(
	const struct counter_owner *o, const struct ht_counter *c)
{
	return c->hist - 1 < HT_NONE - 1 ? &o->hists[c->hist] : NULL;
}

/* To a counter of one's own: all but sizes. */
static inline void counter_add_alloc(
	const struct segment *s, struct ht_counter *c, uint32_t site, uint64_t size)
{
	uint64_t bytes = c->alloc_bytes + size;

	ht_add_own_64(&c->allocs, 1);
	ht_store_relaxed_64(&c->alloc_bytes, bytes);
	share_up(s, &c->share, &stack_site(s, site)->live_bytes, bytes - c->free_bytes);
}

static inline void counter_add_free(
	const struct segment *s, struct ht_counter *c, uint32_t site, const struct counter_end *end)
{
	uint64_t bytes = c->free_bytes + end->size;

	ht_add_own_64(&c->frees, 1);
	ht_store_relaxed_64(&c->free_bytes, bytes);
	share_down(s, &c->share, &stack_site(s, site)->live_bytes, c->alloc_bytes - bytes);
	if (end->temporary)
		ht_add_own_64(&c->temporary, 1);
}

static inline void counter_add_life(const struct segment *s, const struct counter_owner *o,
	struct ht_counter *c, uint32_t bucket)
{
	struct ht_hist *hist = counter_hist(o, c);

	if (__builtin_expect(hist != NULL, 1))
		ht_add_own_64(&hist->life[bucket], 1);
	else
		counter_life_first(s, c, bucket);
}

/* To a slot of one's own. */
static inline void counter_slot_alloc(
	const struct segment *s, struct ht_thread *t, uint32_t bucket, uint64_t size)
{
	uint64_t live = t->live_bytes + size;

	ht_add_own_64(&t->size[bucket].allocs, 1);
	ht_add_own_64(&t->size[bucket].alloc_bytes, size);
	ht_store_relaxed_64(&t->live_bytes, live);
	if (share_up(s, &t->share, &s->header->live_bytes, live))
		ht_store_relaxed_64(&t->peak_ns, ht_load_relaxed_64(&s->header->clock_ns));
}

static inline void counter_slot_free(const struct segment *s, struct ht_thread *t, uint32_t bucket,
	const struct counter_end *end)
{
	uint64_t live = t->live_bytes - end->size;

	ht_add_own_64(&t->size[bucket].frees, 1);
	ht_add_own_64(&t->size[bucket].free_bytes, end->size);
	ht_store_relaxed_64(&t->live_bytes, live);
	share_down(s, &t->share, &s->header->live_bytes, live);
	if (end->temporary)
		ht_add_own_64(&t->temporary, 1);
}

/*
 * Whether `c` is the owner's counter of this site, and what it needs of sizes is done: nothing, as
 * long as all are of one bucket; else they are in its histogram, at `*mixed`.
 */
static inline bool counter_is(const struct counter_owner *o, const struct ht_counter *c,
	uint32_t site, uint32_t bucket, struct ht_hist **mixed)
{
	uint64_t key = c->key;

	*mixed = NULL;
	if (key == (o->key | ht_counter_key(site, 0, bucket)))
		return true;
	*mixed = counter_hist(o, c);
	return *mixed && key == (o->key | ht_counter_key(site, 0, HT_SIZE_MIXED));
}

static inline void counter_alloc(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size)
{
	struct ht_counter *c = &o->counters[o->counter[site % COUNTER_SITES]];
	uint32_t bucket = counter_size_bucket(size);
	struct ht_hist *mixed;

	if (__builtin_expect(!counter_is(o, c, site, bucket, &mixed), 0)) {
		counter_alloc_other(s, o, site, size);
		return;
	}
	if (mixed)
		ht_add_own_64(&mixed->size_allocs[bucket], 1);
	counter_add_alloc(s, c, site, size);
	counter_slot_alloc(s, o->thread, bucket, size);
}

static inline void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_end *end)
{
	struct ht_counter *c = &o->counters[o->counter[site % COUNTER_SITES]];
	uint32_t bucket = counter_size_bucket(end->size);
	struct ht_hist *mixed;

	if (__builtin_expect(!counter_is(o, c, site, bucket, &mixed), 0)) {
		counter_free_other(s, o, site, end);
		return;
	}
	if (mixed)
		ht_add_own_64(&mixed->size_frees[bucket], 1);
	counter_add_free(s, c, site, end);
	counter_slot_free(s, o->thread, bucket, end);
	if (end->life_ticks != 0) {
		uint32_t life = counter_life_bucket(end->life_ticks);

		counter_add_life(s, o, c, life);
		ht_add_own_64(&o->thread->life[life], 1);
	}
}

#endif
