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
#include "shm/counter_peak.h"
#include "shm/stack.h"
#include "shm/thread.h"

/* Buckets of sizes up to 512: finding the highest bit is slower on some processors. */
#define COUNTER_SMALL 512u
extern const uint8_t counter_small_bucket[COUNTER_SMALL + 1] __attribute__((visibility("hidden")));

/* Histogram bucket of a size: 0 holds sizes up to 8, then up to 16, 32, ... */
HT_HOT uint32_t counter_size_bucket(uint64_t size)
{
	uint32_t bucket;

	if (__builtin_expect(size <= COUNTER_SMALL, 1))
		return counter_small_bucket[size];
	bucket = (63u ^ (uint32_t)__builtin_clzll(size - 1)) - 2;
	return bucket < HT_SIZE_BUCKETS ? bucket : HT_SIZE_BUCKETS - 1;
}

/* Histogram bucket of a lifetime in ticks: below 1, 4, 16, ... */
HT_HOT uint32_t counter_life_bucket(uint64_t ticks)
{
	uint32_t bucket = ticks == 0 ? 0 : (65u - (uint32_t)__builtin_clzll(ticks)) / 2;

	return bucket < HT_LIFE_BUCKETS ? bucket : HT_LIFE_BUCKETS - 1;
}

/* A slot owner's private data for counting. `counter` caches the number of each site's counter; the
 * counter's key validates an entry. Two sites that share an entry cost each other a search. */
#define COUNTER_SITES 8192u
struct counter_owner {
	struct ht_thread *thread; /* the slot */
	struct ht_counter *counters; /* number 0 */
	struct ht_hist *hists; /* number 0 */
	struct ht_at_peak *at_peak; /* number 0 */
	const uint64_t *owners; /* number 0 */
	uint32_t slot;
	uint32_t own; /* ht_owner of site 0 */
	uint64_t own_of[HT_FAMILY_COUNT]; /* ht_owner_word of site 0 */
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
 * site's counter, instead of the owner's table; what counter_prepare noted for this site, or 0.
 */
struct counter_found {
	struct ht_counter *counter;
	uint32_t bucket;
	uint32_t kept; /* the counter's size bucket */
};
HT_HOT bool counter_find(const struct segment *s, const struct counter_owner *o, uint32_t known,
	uint64_t size, struct counter_found *out);
HT_HOT void counter_alloc_found(const struct segment *s, struct counter_owner *o,
	const struct counter_found *found, uint64_t size);
/* The same as counter_find where that failed: true if only the peak's epoch was new. */
static inline bool counter_renew(const struct segment *s, const struct counter_owner *o,
	uint32_t known, struct counter_found *out);
/* Returns the counter's number, for the live table. */
uint32_t counter_prepare(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size);
void counter_alloc_at(
	const struct segment *s, struct counter_owner *o, uint32_t counter, uint64_t size);

/* The shared word of the site's live bytes. */
static inline uint64_t *counter_site_live(const struct segment *s, const struct ht_counter *c)
{
	return &stack_site(s, ht_counter_site(c->key))->live_bytes;
}

/* The site of a counter that some block has, and the family of its function. */
HT_HOT uint32_t counter_site(const struct counter_owner *o, uint32_t counter)
{
	return ht_owner_site((uint32_t)ht_load_relaxed_64(&o->owners[counter]));
}

static inline uint32_t counter_family(const struct counter_owner *o, uint32_t counter)
{
	return (uint32_t)(ht_load_relaxed_64(&o->owners[counter]) >> HT_OWNER_FAMILY_SHIFT);
}

/* From now on counter_own_site says of no counter that it is the owner's: each free takes the way
 * of another slot's. */
void counter_own_none(struct counter_owner *o);

/* The site of a counter, if it is the owner's, and a function of that family may free its blocks;
 * else HT_SITES_MAX or more. */
HT_HOT uint64_t counter_own_site(
	const struct counter_owner *o, uint32_t counter, enum ht_family family)
{
	uint64_t site = ht_load_relaxed_64(&o->owners[counter]) ^ o->own_of[family];

	/* One whose family is not known may free all. */
	return family == HT_FAMILY_ANY ? site & (HT_OWNER_NONE | UINT32_MAX) : site;
}

struct counter_freed {
	uint64_t size;
	uint64_t life_ticks;
	bool temporary; /* freed by its own thread, as that thread's very next event */
};
HT_HOT void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end);
/* The same for a block from the live table. Returns its site. A caller that knows by
 * counter_own_site that the counter is the owner's calls counter_free_own. */
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

/* Events that counting alone does not cover: no counter yet, no private one, another size, a new
 * peak epoch, a lifetime without a histogram. The last is for the owner's own counter. */
void counter_alloc_unprepared(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size);
void counter_free_other(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end);
void counter_free_unprepared(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end);
/* For a block allocated by another slot. Returns the site. */
uint32_t counter_free_foreign(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end);
/* Settles a share that exceeds its limit: the counter's, or the slot's. The second: a free of `sum`
 * has been counted, and may have ended a maximum. */
void counter_settle(const struct segment *s, struct counter_owner *o, struct ht_counter *c);
void counter_settle_free(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	struct counter_sum sum);

/* Adds to a private slot, except lifetimes and temporary blocks. Returns its live bytes. */
HT_HOT uint64_t counter_slot_add(struct ht_thread *t, uint32_t bucket, struct counter_sum sum)
{
	struct ht_thread_size *in = &t->size[bucket];
	uint64_t live = t->live_bytes + sum.bytes;

	ht_add_own_64(&in->allocs, sum.blocks);
	ht_add_own_64(&in->alloc_bytes, sum.bytes);
	ht_store_relaxed_64(&t->live_bytes, live);
	return live;
}

HT_HOT uint64_t counter_slot_take(struct ht_thread *t, uint32_t bucket, struct counter_sum sum)
{
	struct ht_thread_size *in = &t->size[bucket];
	uint64_t live = t->live_bytes - sum.bytes;

	ht_add_own_64(&in->frees, sum.blocks);
	ht_add_own_64(&in->free_bytes, sum.bytes);
	ht_store_relaxed_64(&t->live_bytes, live);
	return live;
}

/* Adds to a private counter, except its histogram and temporary blocks. Returns its live bytes. */
HT_HOT uint64_t counter_add(struct ht_counter *c, struct counter_sum sum)
{
	uint64_t bytes = c->alloc_bytes + sum.bytes;

	ht_add_own_64(&c->allocs, sum.blocks);
	ht_store_relaxed_64(&c->alloc_bytes, bytes);
	return bytes - c->free_bytes;
}

HT_HOT uint64_t counter_take(struct ht_counter *c, struct counter_sum sum)
{
	uint64_t bytes = c->free_bytes + sum.bytes;

	ht_add_own_64(&c->frees, sum.blocks);
	ht_store_relaxed_64(&c->free_bytes, bytes);
	return c->alloc_bytes - bytes;
}

/* Notes a slot's live bytes where they are a new peak. False: its share has to settle. */
HT_HOT bool counter_slot_up(const struct segment *s, struct ht_thread *t, uint64_t live)
{
	if (!counter_batch_above(live, t->share.high))
		return true;
	if (!counter_batch_up(&t->share, live))
		return false;
	ht_store_relaxed_64(&t->peak_ns, ht_load_relaxed_64(&s->header->clock_ns));
	if (counter_peak_is_new(s, live + t->share.others))
		counter_batch_arm(&t->share, live);
	return true;
}

HT_HOT bool counter_up(struct ht_counter *c, uint64_t live)
{
	return !counter_batch_above(live, c->share.high) || counter_batch_up(&c->share, live);
}

/* The counter's size bucket; larger than all if its epoch is over. */
HT_HOT uint32_t counter_kept(const struct segment *s, const struct ht_counter *c)
{
	return ht_counter_kept(c) ^ ht_load_relaxed_32(&s->header->peak_epoch);
}

/* The size bucket alone decides what an event must do: slot 0's counters, and new ones, have none.
 */
HT_HOT bool counter_find(const struct segment *s, const struct counter_owner *o, uint32_t known,
	uint64_t size, struct counter_found *out)
{
	struct ht_counter *c = &o->counters[known];

	*out = (struct counter_found){
		.counter = c, .bucket = counter_size_bucket(size), .kept = counter_kept(s, c)
	};
	return out->kept == out->bucket || __builtin_expect(out->kept == HT_SIZE_MIXED, 1);
}

static inline bool counter_renew(const struct segment *s, const struct counter_owner *o,
	uint32_t known, struct counter_found *out)
{
	uint32_t size = ht_counter_size(out->counter->key);

	if (size != out->bucket && size != HT_SIZE_MIXED)
		return false;
	out->kept = size;
	counter_peak_save(&o->at_peak[known], out->counter, counter_peak_epoch(s),
		(struct counter_sum){ 0, 0 });
	return true;
}

HT_HOT void counter_alloc_found(const struct segment *s, struct counter_owner *o,
	const struct counter_found *found, uint64_t size)
{
	struct ht_counter *c = found->counter;
	struct ht_thread *t = o->thread;
	const struct counter_sum one = { 1, size };
	uint64_t all, live;
	bool fine;

	if (found->kept == HT_SIZE_MIXED)
		ht_add_own_64(&o->hists[c->hist].size_allocs[found->bucket], 1);
	all = counter_slot_add(t, found->bucket, one);
	live = counter_add(c, one);
	fine = counter_slot_up(s, t, all);
	fine &= counter_up(c, live);
	if (__builtin_expect(!fine, 0))
		counter_settle(s, o, c);
}

/* Whether the counter is the owner's for that site. */
HT_HOT bool counter_is_own(const struct counter_owner *o, uint32_t counter, uint32_t site)
{
	return (uint32_t)ht_load_relaxed_64(&o->counters[counter].key) == (o->own | site);
}

HT_HOT void counter_alloc(
	const struct segment *s, struct counter_owner *o, uint32_t site, uint64_t size)
{
	uint32_t *known = &o->counter[site % COUNTER_SITES];
	struct counter_found found;

	if (__builtin_expect(
		    counter_is_own(o, *known, site) && counter_find(s, o, *known, size, &found), 1))
		counter_alloc_found(s, o, &found, size);
	else
		counter_alloc_unprepared(s, o, known, site, size);
}

/* `counter` is the owner's. */
HT_HOT void counter_free_own(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end)
{
	uint32_t bucket = counter_size_bucket(end->size);
	const struct counter_sum one = { 1, end->size };
	struct ht_counter *c = &o->counters[counter];
	uint32_t kept = counter_kept(s, c);
	struct ht_thread *t = o->thread;
	uint64_t all, live;

	if (kept != bucket && __builtin_expect(kept != HT_SIZE_MIXED, 0))
		goto unprepared;
	if (end->life_ticks != 0) {
		uint32_t life = counter_life_bucket(end->life_ticks);

		if (__builtin_expect(c->hist == HT_HIST_FEW, 0))
			goto unprepared;
		ht_add_own_64(&o->hists[c->hist].life[life], 1);
		ht_add_own_64(&t->life[life], 1);
	}
	if (kept == HT_SIZE_MIXED)
		ht_add_own_64(&o->hists[c->hist].size_frees[bucket], 1);
	if (end->temporary) {
		ht_add_own_64(&c->temporary, 1);
		ht_add_own_64(&t->temporary, 1);
	}
	all = counter_slot_take(t, bucket, one);
	live = counter_take(c, one);
	if (__builtin_expect(counter_batch_above(t->share.low, all), 0) ||
		__builtin_expect(counter_batch_above(c->share.low, live), 0))
		counter_settle_free(s, o, c, one);
	return;
unprepared:;
	struct counter_freed other = *end; /* the ordinary one stays in registers */

	counter_free_unprepared(s, o, counter, &other);
}

HT_HOT void counter_free(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end)
{
	uint32_t known = o->counter[site % COUNTER_SITES];

	if (__builtin_expect(counter_is_own(o, known, site), 1))
		counter_free_own(s, o, known, end);
	else
		counter_free_other(s, o, site, end);
}

/* Mostly its counter is private: the thread that allocated the block frees it. */
HT_HOT uint32_t counter_free_block(const struct segment *s, struct counter_owner *o,
	uint32_t counter, const struct counter_freed *end)
{
	/* The site, if the slot is ours. */
	uint32_t site = (uint32_t)ht_load_relaxed_64(&o->owners[counter]) ^ o->own;

	if (__builtin_expect(site >= HT_SITES_MAX, 0)) {
		struct counter_freed other = *end; /* the ordinary one stays in registers */

		return counter_free_foreign(s, o, counter, &other);
	}
	counter_free_own(s, o, counter, end);
	return site;
}

#endif
