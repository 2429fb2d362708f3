/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting: how each block changes the counter of its site and its thread's slot. The owner of a
 * slot counts with plain loads and stores, in cache lines that no other thread writes; slot 0 uses
 * atomic adds. Each number is exact by itself at any moment, and all agree when the program is
 * quiet. Any thread, inside hooks.
 */
#ifndef SHM_COUNTER_H
#define SHM_COUNTER_H

#include "shm/poisson.h"
#include "shm/counter_batch.h"
#include "shm/stack.h"
#include "shm/thread.h"

/* Buckets of sizes up to 512, by units of 8: finding the highest bit is slower on some processors.
 */
#define COUNTER_SMALL 512u
extern const uint8_t counter_small_bucket[COUNTER_SMALL / 8 + 1]
	__attribute__((visibility("hidden")));

/* Histogram bucket of a size: 0 holds sizes up to 8, then up to 16, 32, ... */
HT_HOT uint32_t counter_size_bucket(uint64_t size)
{
	uint32_t bucket;

	if (__builtin_expect(size <= COUNTER_SMALL, 1))
		return counter_small_bucket[(size + 7) / 8];
	bucket = (63u ^ (uint32_t)__builtin_clzll(size - 1)) - 2;
	return bucket < HT_SIZE_BUCKETS ? bucket : HT_SIZE_BUCKETS - 1;
}

/* Histogram bucket of a lifetime in ticks: below 1, 4, 16, ... */
HT_HOT uint32_t counter_life_bucket(uint64_t ticks)
{
	uint32_t bucket = ticks == 0 ? 0 : (65u - (uint32_t)__builtin_clzll(ticks)) / 2;

	return bucket < HT_LIFE_BUCKETS ? bucket : HT_LIFE_BUCKETS - 1;
}

static inline struct ht_counter *counter_at(const struct segment *s, uint32_t counter)
{
	return segment_at(
		s, segment_element(s, HT_REGION_COUNTERS, counter, sizeof(struct ht_counter)));
}

/* A slot owner's private data for counting. `counter` caches the number of each site's counter; the
 * counter's key validates an entry. Two sites that share an entry cost each other a search. */
#define COUNTER_SITES 8192u
struct counter_owner {
	struct ht_thread *thread; /* the slot */
	struct ht_counter *counters; /* number 0 */
	struct ht_hist *hists; /* number 0 */
	const uint32_t *owners; /* number 0 */
	uint64_t key; /* of its counters, without site and size; slot 0: matches none */
	uint32_t slot;
	uint32_t own; /* ht_owner of site 0 */
	struct counter_batch_adding adding; /* slot 0, which has many owners, adds at once */
	uint32_t counter[COUNTER_SITES]; /* of slot 0: all 0, since it has many owners */
};

/* Fills a zeroed one. */
void counter_own(const struct segment *s, struct counter_owner *o, uint32_t slot);

/* Counts an allocation or a free at `site`, by the owner of a slot. A missing counter is created;
 * without memory for it, the block counts at the catch-all site, and the header counts that. */
HT_HOT void counter_alloc(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size);

/*
 * The same in two steps, for a caller that updates the live table in between: finds the counter,
 * then counts the block, which the caller may omit. counter_find returns false if counting alone is
 * not enough; then call counter_prepare and counter_alloc_at. `known`: the caller's cache of the
 * site's counter, instead of the owner's table; a result of counter_prepare, or 0.
 */
struct counter_found {
	struct ht_counter *counter;
	uint32_t bucket;
	uint64_t *size_allocs; /* of the histogram; NULL: none is kept */
};
HT_HOT bool counter_find(const struct counter_owner *o, uint32_t known, uint32_t site,
	uint64_t size, struct counter_found *out);
HT_HOT void counter_alloc_found(const struct segment *s, struct counter_owner *o,
	const struct counter_found *found, uint64_t size);
/* Returns the counter's number, for the live table. */
uint32_t counter_prepare(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size);
void counter_alloc_at(
	const struct segment *s, struct counter_owner *o, uint32_t counter, uint64_t size);

/* The site of a counter that some block has. */
HT_HOT uint32_t counter_site(const struct counter_owner *o, uint32_t counter)
{
	return ht_owner_site(ht_load_relaxed_32(&o->owners[counter]));
}

struct counter_freed {
	uint64_t size;
	uint64_t life_ticks;
	bool temporary; /* freed by its own thread, as that thread's very next event */
};
HT_HOT void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end);
/* The same for a block from the live table. Returns its site. */
HT_HOT uint32_t counter_free_block(const struct segment *s, struct counter_owner *o,
	uint32_t counter, const struct counter_freed *end);

/* The same for a sampled block, which stands for more than itself: `size` is its own, which selects
 * the histogram's bucket; its weight is added. */
void counter_alloc_sampled(const struct segment *s, struct counter_owner *o, uint32_t site,
	uint64_t size, const struct poisson_weight *w);
/* The counter that counts it; a number for the live table. */
uint32_t counter_for_sampled(const struct segment *s, struct counter_owner *o, uint32_t site);
void counter_free_sampled(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end, const struct poisson_weight *w);
uint32_t counter_free_sampled_block(const struct segment *s, struct counter_owner *o,
	uint32_t counter, const struct counter_freed *end, const struct poisson_weight *w);

/* The program's live bytes, as the owner of `slot` knows them: exact while only that slot counts,
 * else off by less than one limit per other slot. */
static inline uint64_t counter_live(const struct segment *s, uint32_t slot)
{
	const struct ht_thread *t = thread_at(s, slot);
	uint64_t others = ht_load_relaxed_64(&s->header->live_bytes);

	return slot ? others + t->live_bytes - t->share.settled : others;
}

/* The counter of a slot at a site, created if missing. Without memory for a private one it is that
 * of slot 0, and without that counter 0. Only the owner of a slot may call this. */
uint32_t counter_claim(const struct segment *s, uint32_t site, uint32_t slot);

/* ---- how it is done ---- */

/* Events that counting alone does not cover: no counter yet, no private one, another size, a first
 * lifetime that needs a histogram. */
void counter_alloc_unprepared(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size);
void counter_free_unprepared(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end);
/* For a block allocated by another slot. Returns the site. */
uint32_t counter_free_foreign(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end);
/* Settles a share that exceeds its limit: the counter's, or the slot's. */
void counter_settle(const struct segment *s, struct counter_owner *o, struct ht_counter *c);

/* An event's contribution: one block and its size, or the weight of a sampled one. */
struct counter_sum {
	uint64_t blocks, bytes;
};

/* Adds to a private slot. False: its share has to settle. */
HT_HOT bool counter_slot_alloc(
	const struct segment *s, struct ht_thread *t, uint32_t bucket, struct counter_sum sum)
{
	uint64_t live = t->live_bytes + sum.bytes;

	ht_add_own_64(&t->size[bucket].allocs, sum.blocks);
	ht_add_own_64(&t->size[bucket].alloc_bytes, sum.bytes);
	ht_store_relaxed_64(&t->live_bytes, live);
	if (!counter_batch_above(live, t->share.high))
		return true;
	if (!counter_batch_up(&t->share, live))
		return false;
	ht_store_relaxed_64(&t->peak_ns, ht_load_relaxed_64(&s->header->clock_ns));
	return true;
}

HT_HOT bool counter_slot_free(
	struct ht_thread *t, uint32_t bucket, uint32_t life, bool temporary, struct counter_sum sum)
{
	uint64_t live = t->live_bytes - sum.bytes;

	ht_add_own_64(&t->size[bucket].frees, sum.blocks);
	ht_add_own_64(&t->size[bucket].free_bytes, sum.bytes);
	ht_store_relaxed_64(&t->live_bytes, live);
	if (life != 0)
		ht_add_own_64(&t->life[life], sum.blocks);
	if (temporary)
		ht_add_own_64(&t->temporary, sum.blocks);
	return !counter_batch_above(t->share.low, live);
}

/* Adds to a private counter, except sizes and lifetimes. False: its share has to settle. */
HT_HOT bool counter_add_alloc(struct ht_counter *c, struct counter_sum sum)
{
	uint64_t bytes = c->alloc_bytes + sum.bytes, live = bytes - c->free_bytes;

	ht_add_own_64(&c->allocs, sum.blocks);
	ht_store_relaxed_64(&c->alloc_bytes, bytes);
	return !counter_batch_above(live, c->share.high) || counter_batch_up(&c->share, live);
}

HT_HOT bool counter_add_free(struct ht_counter *c, bool temporary, struct counter_sum sum)
{
	uint64_t bytes = c->free_bytes + sum.bytes;

	ht_add_own_64(&c->frees, sum.blocks);
	ht_store_relaxed_64(&c->free_bytes, bytes);
	if (temporary)
		ht_add_own_64(&c->temporary, sum.blocks);
	return !counter_batch_above(c->share.low, c->alloc_bytes - bytes);
}

/* The owner's counter of a site, if it is known, and the key that it must have for a block of some
 * size to need only counting: if `all` blocks so far are of that bucket, or if they are `mixed`. */
struct counter_known {
	struct ht_counter *counter;
	uint64_t all, mixed;
};

HT_HOT struct counter_known counter_known(
	const struct counter_owner *o, uint32_t known, uint32_t site, uint32_t bucket)
{
	uint64_t key = o->key | ht_counter_key(site, 0, 0);

	return (struct counter_known){ &o->counters[known], key | ht_counter_key(0, 0, bucket),
		key | ht_counter_key(0, 0, HT_SIZE_MIXED) };
}

HT_HOT bool counter_find(const struct counter_owner *o, uint32_t known, uint32_t site,
	uint64_t size, struct counter_found *out)
{
	uint32_t bucket = counter_size_bucket(size);
	struct counter_known k = counter_known(o, known, site, bucket);
	uint64_t key = k.counter->key;

	*out = (struct counter_found){ .counter = k.counter, .bucket = bucket };
	if (key != k.all) {
		if (__builtin_expect(key != k.mixed, 0))
			return false;
		out->size_allocs = &o->hists[k.counter->hist].size_allocs[bucket];
	}
	return true;
}

HT_HOT void counter_alloc_found(const struct segment *s, struct counter_owner *o,
	const struct counter_found *found, uint64_t size)
{
	const struct counter_sum one = { 1, size };
	bool fine;

	if (found->size_allocs)
		ht_add_own_64(found->size_allocs, 1);
	fine = counter_add_alloc(found->counter, one);
	fine &= counter_slot_alloc(s, o->thread, found->bucket, one);
	if (__builtin_expect(!fine, 0))
		counter_settle(s, o, found->counter);
}

HT_HOT void counter_alloc(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size)
{
	uint32_t *known = &o->counter[site % COUNTER_SITES];
	struct counter_found found;

	if (__builtin_expect(counter_find(o, *known, site, size, &found), 1))
		counter_alloc_found(s, o, &found, size);
	else
		counter_alloc_unprepared(s, o, known, site, size);
}

/* `known`: the owner's counter that may be the site's. */
HT_HOT void counter_free_known(const struct segment *s, struct counter_owner *o, uint32_t known,
	uint32_t site, const struct counter_freed *end)
{
	uint32_t bucket = counter_size_bucket(end->size);
	uint32_t life = counter_life_bucket(end->life_ticks);
	struct counter_known k = counter_known(o, known, site, bucket);
	const struct counter_sum one = { 1, end->size };
	struct ht_counter *c = k.counter;
	bool fine;

	if (c->key != k.all || life != 0) {
		struct ht_hist *hist = &o->hists[c->hist];

		if (__builtin_expect(c->key != k.mixed && (c->key != k.all || c->hist == 0), 0)) {
			struct counter_freed other = *end; /* the ordinary one stays in registers */

			counter_free_unprepared(s, o, site, &other);
			return;
		}
		if (c->key == k.mixed)
			ht_add_own_64(&hist->size_frees[bucket], 1);
		if (life != 0)
			ht_add_own_64(&hist->life[life], 1);
	}
	fine = counter_add_free(c, end->temporary, one);
	fine &= counter_slot_free(o->thread, bucket, life, end->temporary, one);
	if (__builtin_expect(!fine, 0))
		counter_settle(s, o, c);
}

HT_HOT void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end)
{
	counter_free_known(s, o, o->counter[site % COUNTER_SITES], site, end);
}

/* Mostly its counter is private: the thread that allocated the block frees it. */
HT_HOT uint32_t counter_free_block(const struct segment *s, struct counter_owner *o,
	uint32_t counter, const struct counter_freed *end)
{
	/* The site, if the slot is ours. */
	uint32_t site = ht_load_relaxed_32(&o->owners[counter]) ^ o->own;

	if (__builtin_expect(site >= HT_SITES_MAX, 0)) {
		struct counter_freed other = *end; /* the ordinary one stays in registers */

		return counter_free_foreign(s, o, counter, &other);
	}
	counter_free_known(s, o, counter, site, end);
	return site;
}

#endif
