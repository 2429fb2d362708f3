/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters: finding and creating them, and the rare cases of counting (counter.h). Inside hooks, on
 * any thread. Edge COUNTER of shm/layout.h: a walker that finds a counter's index, in a chain or in
 * site.shared, sees its site and slot.
 */
#include "shm/counter.h"

#define TWICE(n) n, n
#define FOUR(n)	 TWICE(n), TWICE(n)
#define EIGHT(n) FOUR(n), FOUR(n)
#define N16(n)	 EIGHT(n), EIGHT(n)
#define N64(n)	 N16(n), N16(n), N16(n), N16(n)
const uint8_t counter_small_bucket[] = { 0, EIGHT(0), EIGHT(1), N16(2), N16(3), N16(3), N64(4),
	N64(5), N64(5), N64(6), N64(6), N64(6), N64(6) };

/* 0: there is no room, or no memory. */
static uint32_t hist_new(const struct segment *s)
{
	const uint64_t size = sizeof(struct ht_hist);
	const struct commit_table hists = { &s->header->hists, HT_REGION_HISTS, size,
		segment_capacity(s, HT_REGION_HISTS, size) };
	uint32_t hist = commit_take(s, &hists);

	if (hist == 0)
		ht_add_relaxed_64(&s->header->hists_refused, 1);
	return hist;
}

static struct ht_hist *hist_at(const struct segment *s, uint32_t hist)
{
	return segment_at(s, segment_element(s, HT_REGION_HISTS, hist, sizeof(struct ht_hist)));
}

/* A counter without one: number 0. */
static struct ht_hist *hist_of(const struct segment *s, const struct ht_counter *c)
{
	return hist_at(s, c->hist == HT_HIST_FEW ? 0 : c->hist);
}

static uint64_t *owner_word(const struct segment *s, uint32_t counter)
{
	return segment_at(s, segment_element(s, HT_REGION_OWNERS, counter, sizeof(uint64_t)));
}

/* Memory for what else a counter of that number needs. */
static bool rest_commit(const struct segment *s, uint32_t counter)
{
	uint64_t owner = segment_element(s, HT_REGION_OWNERS, counter, sizeof(uint64_t)),
		 peak = segment_element(s, HT_REGION_AT_PEAK, counter, sizeof(struct ht_at_peak));

	return commit_range(s, owner, sizeof(uint64_t)) == 0 &&
	       commit_range(s, peak, sizeof(struct ht_at_peak)) == 0;
}

/* The family of a site's function. */
static uint32_t family_of(const struct segment *s, uint32_t site)
{
	const struct ht_site *of = stack_site(s, site);

	if ((of->flags & HT_SITE_ANCESTOR) != 0 || of->node == 0)
		return HT_FAMILY_ANY;
	return ht_family((uint32_t)stack_node(s, of->node)->pc & HT_LEAF_FUNCTION);
}

/* The second half is slot 0's: even when the first is used up, there is one for each site. */
static uint32_t counter_new(const struct segment *s, uint32_t site, uint32_t slot)
{
	const uint64_t size = sizeof(struct ht_counter),
		       room = segment_capacity(s, HT_REGION_COUNTERS, size),
		       all = room < HT_COUNTER_HIDDEN ? room : HT_COUNTER_HIDDEN;
	const struct commit_table counters = { &s->header->counters, HT_REGION_COUNTERS, size,
		slot ? room / 2 : all };
	/* First the memory, then the counter: a lack of memory must not use up the table. */
	uint32_t index = rest_commit(s, ht_load_relaxed_32(&s->header->counters))
				 ? commit_take(s, &counters)
				 : 0;

	if (index == 0 || !rest_commit(s, index))
		return 0;
	/* Relaxed: another thread may ask whether it is its own (is_namesake). */
	ht_store_relaxed_64(&counter_at(s, index)->key,
		ht_counter_key(site, slot, slot ? HT_SIZE_NONE : HT_SIZE_ANY));
	counter_at(s, index)->hist = HT_HIST_FEW;
	ht_store_relaxed_64(owner_word(s, index), ht_owner_word(site, slot, family_of(s, site)));
	return index;
}

/* Only the owner creates counters of this slot, so a missing one stays missing meanwhile. */
static uint32_t claim_private(const struct segment *s, uint32_t site, uint32_t slot)
{
	uint32_t *head = &stack_site(s, site)->counters;
	uint32_t seen = ht_load_acquire_32(head), counter; /* COUNTER */

	for (counter = seen; counter != 0; counter = counter_at(s, counter)->next)
		if (ht_counter_slot(ht_load_relaxed_64(&counter_at(s, counter)->key)) == slot)
			return counter;
	counter = counter_new(s, site, slot);
	if (counter == 0)
		return 0;
	if (*s->single_threaded) /* several threads know more when each settles its first event */
		counter_batch_begin(
			&counter_at(s, counter)->share, &stack_site(s, site)->live_bytes);
	do {
		counter_at(s, counter)->next = seen;
	} while (!ht_cas_acq_rel_32(head, &seen, counter)); /* COUNTER: publishes the fields */
	return counter;
}

/* Its histogram is created with it: many threads write it, and could not agree on when it is
 * needed. */
static uint32_t claim_shared(const struct segment *s, uint32_t site)
{
	uint32_t *shared = &stack_site(s, site)->shared;
	uint32_t seen = ht_load_acquire_32(shared), fresh; /* COUNTER */

	if (seen != 0)
		return seen;
	fresh = counter_new(s, site, 0);
	if (fresh == 0) {
		ht_add_relaxed_64(&s->header->counters_refused, 1);
		return 0;
	}
	counter_at(s, fresh)->hist = hist_new(s);
	/* COUNTER: publishes the fields. The loser's counter and histogram stay unused. */
	return ht_cas_acq_rel_32(shared, &seen, fresh) ? fresh : seen;
}

uint32_t counter_claim(const struct segment *s, uint32_t site, uint32_t slot)
{
	uint32_t counter = 0;

	if (site == 0)
		return 0;
	if (slot != 0)
		counter = claim_private(s, site, slot);
	return counter ? counter : claim_shared(s, site);
}

/* ---- a counter of one's own ---- */

static void size_set(struct ht_counter *c, uint32_t size_bucket)
{
	uint64_t all = ht_counter_key(0, 0, (1u << HT_SIZE_BITS) - 1);

	ht_store_relaxed_64(&c->key, (c->key & ~all) | ht_counter_key(0, 0, size_bucket));
}

static bool few_fits(uint64_t word, uint32_t bucket, uint64_t count)
{
	return bucket < HT_FEW_BUCKETS && count <= HT_FEW_MOST - ht_few(word, bucket);
}

static void few_add(uint64_t *word, uint32_t bucket, uint64_t count)
{
	ht_add_own_64(word, count << 4 * bucket);
}

/* Copies into the histogram what the counter knows of sizes by itself. */
static void hist_sizes(struct ht_hist *hist, const struct ht_counter *c)
{
	uint32_t kept = ht_counter_size(c->key);

	if (kept < HT_SIZE_BUCKETS) {
		ht_store_relaxed_64(&hist->size_allocs[kept], c->allocs);
		ht_store_relaxed_64(&hist->size_frees[kept], c->frees);
	}
	for (uint32_t i = 0; i < HT_FEW_BUCKETS && kept == HT_SIZE_FEW; i++) {
		ht_store_relaxed_64(&hist->size_allocs[i], ht_few(c->few_allocs, i));
		ht_store_relaxed_64(&hist->size_frees[i], ht_few(c->few_frees, i));
	}
}

/* Gives the counter a histogram that continues its own counts. Without room it writes to number 0,
 * and does not ask again. A handler may abandon this anywhere: nothing counts until the number is
 * there. */
static void hist_take(const struct segment *s, struct ht_counter *c)
{
	uint32_t number = hist_new(s);

	for (uint32_t i = 1; i < HT_LIFE_BUCKETS && number != 0; i++)
		ht_store_relaxed_64(&hist_at(s, number)->life[i], ht_few(c->few_lives, i));
	ht_store_relaxed_32(&c->hist, number);
	if (number == 0)
		size_set(c, HT_SIZE_MIXED);
}

/* From now on the histogram counts sizes. */
static void sizes_mix(const struct segment *s, struct ht_counter *c)
{
	if (c->hist == HT_HIST_FEW)
		hist_take(s, c);
	if (c->hist != 0)
		hist_sizes(hist_at(s, c->hist), c);
	size_set(c, HT_SIZE_MIXED);
}

/* Begins to count several sizes in the counter itself. False: there are too many blocks. */
static bool sizes_few(struct ht_counter *c)
{
	uint32_t kept = ht_counter_size(c->key);

	if (c->hist != HT_HIST_FEW || !few_fits(0, kept, c->allocs) || !few_fits(0, kept, c->frees))
		return false;
	ht_store_relaxed_64(&c->few_allocs, c->allocs << 4 * kept);
	ht_store_relaxed_64(&c->few_frees, c->frees << 4 * kept);
	size_set(c, HT_SIZE_FEW);
	return true;
}

/* Prepares the counter for blocks of this bucket, which `few` will count if sizes are few, and for
 * the peak's epoch. */
static void own_prepare(const struct segment *s, struct ht_counter *c, const uint64_t *few,
	uint32_t bucket, uint64_t count)
{
	uint32_t kept = ht_counter_size(c->key);

	counter_peak_keep(s, c);
	if (kept == HT_SIZE_NONE)
		size_set(c, bucket);
	else if (kept != bucket && kept != HT_SIZE_MIXED &&
		 ((kept != HT_SIZE_FEW && !sizes_few(c)) || c->hist != HT_HIST_FEW ||
			 !few_fits(*few, bucket, count)))
		sizes_mix(s, c);
}

/* Counts a size in the counter's `few` or in the histogram's `many`, where one is kept. */
static void own_size(
	struct ht_counter *c, uint64_t *few, uint64_t *many, uint64_t count, uint32_t bucket)
{
	uint32_t kept = ht_counter_size(c->key);

	if (kept == HT_SIZE_FEW)
		few_add(few, bucket, count);
	else if (kept == HT_SIZE_MIXED)
		ht_add_own_64(&many[bucket], count);
}

static void own_life(const struct segment *s, struct ht_counter *c, uint32_t life, uint64_t count)
{
	if (life == 0)
		return;
	if (c->hist == HT_HIST_FEW && !few_fits(c->few_lives, life, count))
		hist_take(s, c);
	if (c->hist == HT_HIST_FEW)
		few_add(&c->few_lives, life, count);
	else
		ht_add_own_64(&hist_at(s, c->hist)->life[life], count);
}

/* ---- slot 0's counter ---- */

static void shared_alloc(
	const struct segment *s, struct ht_counter *c, uint32_t bucket, struct counter_sum sum)
{
	struct ht_hist *hist = hist_at(s, c->hist);

	counter_peak_keep_shared(s, c);
	segment_count(s, &c->allocs, sum.blocks);
	segment_count(s, &c->alloc_bytes, sum.bytes);
	segment_count(s, &hist->size_allocs[bucket], sum.blocks);
	counter_batch_add(s, &c->share, counter_site_live(s, c), sum.bytes);
}

static void shared_free(const struct segment *s, struct ht_counter *c,
	const struct counter_freed *end, struct counter_sum sum)
{
	struct ht_hist *hist = hist_at(s, c->hist);

	counter_peak_keep_shared(s, c);
	segment_count(s, &c->frees, sum.blocks);
	segment_count(s, &c->free_bytes, sum.bytes);
	segment_count(s, &hist->size_frees[counter_size_bucket(end->size)], sum.blocks);
	segment_count(s, &hist->life[counter_life_bucket(end->life_ticks)], sum.blocks);
	if (end->temporary)
		segment_count(s, &c->temporary, sum.blocks);
	counter_batch_add(s, &c->share, counter_site_live(s, c), -sum.bytes);
}

/* ---- slot 0 ---- */

static void slot_0_alloc(
	const struct segment *s, struct ht_thread *t, uint32_t bucket, struct counter_sum sum)
{
	segment_count(s, &t->size[bucket].allocs, sum.blocks);
	segment_count(s, &t->size[bucket].alloc_bytes, sum.bytes);
	if (counter_batch_add(s, &t->share, &s->header->live_bytes, sum.bytes))
		ht_store_relaxed_64(&t->peak_ns, ht_load_relaxed_64(&s->header->clock_ns));
}

static void slot_0_free(const struct segment *s, struct ht_thread *t, struct ht_counter *c,
	const struct counter_freed *end, struct counter_sum sum)
{
	uint64_t total = ht_load_relaxed_64(&s->header->live_bytes);
	struct ht_thread_size *in = &t->size[counter_size_bucket(end->size)];

	segment_count(s, &in->frees, sum.blocks);
	segment_count(s, &in->free_bytes, sum.bytes);
	counter_batch_add(s, &t->share, &s->header->live_bytes, -sum.bytes);
	if (counter_peak_is_new(s, total))
		counter_peak_fell(s, c, sum, total);
	segment_count(s, &t->life[counter_life_bucket(end->life_ticks)], sum.blocks);
	if (end->temporary)
		segment_count(s, &t->temporary, sum.blocks);
}

/* ---- the rare events ---- */

void counter_own(const struct segment *s, struct counter_owner *o, uint32_t slot)
{
	o->thread = thread_at(s, slot);
	o->counters = counter_at(s, 0);
	o->hists = hist_at(s, 0);
	o->at_peak = segment_at(s, segment_element(s, HT_REGION_AT_PEAK, 0, 0));
	o->owners = owner_word(s, 0);
	o->slot = slot;
	o->own = ht_owner(0, slot);
	for (uint32_t i = 0; i < HT_FAMILY_COUNT; i++)
		o->own_of[i] = ht_owner_word(0, slot, i);
}

void counter_own_none(struct counter_owner *o)
{
	for (uint32_t i = 0; i < HT_FAMILY_COUNT; i++)
		o->own_of[i] ^= HT_OWNER_NONE;
}

static uint32_t counter_number(const struct counter_owner *o, const struct ht_counter *c)
{
	return (uint32_t)(c - o->counters);
}

/* Whether the site's counter is the one of the same number, as in a program with one thread: then
 * the site itself, which may be far away, need not be read. Not for slot 0, whose counters other
 * threads publish by the site. */
static bool is_namesake(const struct segment *s, const struct counter_owner *o, uint32_t site)
{
	return o->slot != 0 && site < ht_load_relaxed_32(&s->header->counters) &&
	       counter_is_own(o, site, site);
}

/* The owner's counter for blocks of a site, which is noted in *known. */
static struct ht_counter *counter_of(
	const struct segment *s, const struct counter_owner *o, uint32_t *known, uint32_t site)
{
	uint32_t counter = *known;

	if (counter_is_own(o, counter, site))
		return &o->counters[counter];
	counter = is_namesake(s, o, site) ? site : counter_claim(s, site, o->slot);
	if (o->slot != 0)
		*known = counter;
	return &o->counters[counter];
}

/* Adds a free's lifetime, and whether the block was temporary, to a private slot. */
static void slot_ended(struct ht_thread *t, const struct counter_freed *end, struct counter_sum sum)
{
	uint32_t life = counter_life_bucket(end->life_ticks);

	if (life != 0)
		ht_add_own_64(&t->life[life], sum.blocks);
	if (end->temporary)
		ht_add_own_64(&t->temporary, sum.blocks);
}

/* Counts a block at slot 0's counter, by whichever slot. */
static void other_alloc(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	uint32_t bucket, struct counter_sum sum)
{
	shared_alloc(s, c, bucket, sum);
	if (o->slot == 0)
		slot_0_alloc(s, o->thread, bucket, sum);
	else if (!counter_slot_up(s, o->thread, counter_slot_add(o->thread, bucket, sum)))
		counter_settle(s, o, c);
}

static void other_free(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	const struct counter_freed *end, struct counter_sum sum)
{
	uint32_t bucket = counter_size_bucket(end->size);

	shared_free(s, c, end, sum);
	if (o->slot == 0)
		slot_0_free(s, o->thread, c, end, sum);
	else {
		slot_ended(o->thread, end, sum);
		(void)counter_slot_take(o->thread, bucket, sum);
		counter_settle_free(s, o, c, sum);
	}
}

/* The same at a private counter, by its owner. */
static void own_alloc(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	uint32_t bucket, struct counter_sum sum)
{
	bool fine;

	own_prepare(s, c, &c->few_allocs, bucket, sum.blocks);
	own_size(c, &c->few_allocs, hist_of(s, c)->size_allocs, sum.blocks, bucket);
	fine = counter_slot_up(s, o->thread, counter_slot_add(o->thread, bucket, sum));
	fine &= counter_up(c, counter_add(c, sum));
	if (!fine)
		counter_settle(s, o, c);
}

static void own_free(const struct segment *s, struct counter_owner *o, struct ht_counter *c,
	const struct counter_freed *end, struct counter_sum sum)
{
	uint32_t bucket = counter_size_bucket(end->size);

	own_life(s, c, counter_life_bucket(end->life_ticks), sum.blocks);
	own_prepare(s, c, &c->few_frees, bucket, sum.blocks);
	own_size(c, &c->few_frees, hist_of(s, c)->size_frees, sum.blocks, bucket);
	if (end->temporary)
		ht_add_own_64(&c->temporary, sum.blocks);
	slot_ended(o->thread, end, sum);
	(void)counter_slot_take(o->thread, bucket, sum);
	(void)counter_take(c, sum);
	counter_settle_free(s, o, c, sum);
}

static uint32_t *known_of(struct counter_owner *o, uint32_t site)
{
	return &o->counter[site % COUNTER_SITES];
}

uint32_t counter_prepare(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size)
{
	struct ht_counter *c = counter_of(s, o, known, site);

	if (ht_counter_slot(c->key) != 0)
		own_prepare(s, c, &c->few_allocs, counter_size_bucket(size), 1);
	return counter_number(o, c);
}

void counter_alloc_at(
	const struct segment *s, struct counter_owner *o, uint32_t counter, uint64_t size)
{
	struct ht_counter *c = &o->counters[counter];
	const struct counter_sum one = { 1, size };
	struct counter_found found;

	if (counter_find(s, o, counter, size, &found) || counter_renew(s, o, counter, &found))
		counter_alloc_found(s, o, &found, size);
	else if (ht_counter_slot(c->key) == 0)
		other_alloc(s, o, c, counter_size_bucket(size), one);
	else
		own_alloc(s, o, c, counter_size_bucket(size), one);
}

void counter_alloc_unprepared(const struct segment *s, struct counter_owner *o, uint32_t *known,
	uint32_t site, uint64_t size)
{
	counter_alloc_at(s, o, counter_prepare(s, o, known, site, size), size);
}

/* Counts a free of another slot's block; blocks of slot 0 have no certain owner. */
static void foreign_count(const struct counter_owner *o, uint32_t owner, struct counter_sum sum)
{
	if (o->slot == 0 || ht_owner_slot(owner) == 0 || ht_owner_slot(owner) == o->slot)
		return;
	ht_add_own_64(&o->thread->foreign_frees, sum.blocks);
	ht_add_own_64(&o->thread->foreign_bytes, sum.bytes);
}

uint32_t counter_free_foreign(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end)
{
	uint32_t owner = (uint32_t)ht_load_relaxed_64(&o->owners[counter]);

	foreign_count(o, owner, (struct counter_sum){ 1, end->size });
	counter_free(s, o, ht_owner_site(owner), end);
	return ht_owner_site(owner);
}

void counter_free_unprepared(const struct segment *s, struct counter_owner *o, uint32_t counter,
	const struct counter_freed *end)
{
	struct ht_counter *c = &o->counters[counter];
	struct counter_found found = {
		.counter = c, .bucket = counter_size_bucket(end->size), .kept = counter_kept(s, c)
	};

	if (found.kept > HT_SIZE_NONE && counter_renew(s, o, counter, &found))
		counter_free_own(s, o, counter, end);
	else if (ht_counter_slot(c->key) != 0)
		own_free(s, o, c, end, (struct counter_sum){ 1, end->size });
	else
		other_free(s, o, c, end, (struct counter_sum){ 1, end->size });
}

void counter_free_other(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end)
{
	struct ht_counter *c = counter_of(s, o, known_of(o, site), site);
	const struct counter_sum one = { 1, end->size };

	if (ht_counter_slot(c->key) != 0)
		own_free(s, o, c, end, one);
	else
		other_free(s, o, c, end, one);
}

/* ---- sampled blocks ---- */

/* Adds to a variance, which saturates. */
static void variance_add(uint64_t *sum, bool shared, uint64_t value)
{
	if (*sum + value < value)
		ht_store_relaxed_64(sum, UINT64_MAX);
	else if (shared)
		ht_add_relaxed_64(sum, value);
	else
		ht_add_own_64(sum, value);
}

/* The variances of a counter. NULL: there is no memory for them; the header counts that. */
static struct ht_variance *variances_of(
	const struct segment *s, const struct counter_owner *o, const struct ht_counter *c)
{
	uint64_t at = segment_element(
		s, HT_REGION_VARIANCES, (uint64_t)(c - o->counters), sizeof(struct ht_variance));

	return commit_range(s, at, sizeof(struct ht_variance)) == 0 ? segment_at(s, at) : NULL;
}

/* Counts the blocks that a sampled one stands for, beyond itself. */
static void weight_add(const struct counter_owner *o, const struct poisson_weight *w)
{
	thread_add(o->slot, &o->thread->weights, w->blocks - 1);
}

uint32_t counter_for_sampled(const struct segment *s, struct counter_owner *o, uint32_t site)
{
	return counter_number(o, counter_of(s, o, known_of(o, site), site));
}

void counter_alloc_sampled(const struct segment *s, struct counter_owner *o, uint32_t site,
	uint64_t size, const struct poisson_weight *w)
{
	const struct counter_sum sum = { w->blocks, w->bytes };
	struct ht_counter *c = counter_of(s, o, known_of(o, site), site);
	struct ht_variance *variances = variances_of(s, o, c);
	bool shared = ht_counter_slot(c->key) == 0;

	if (shared)
		other_alloc(s, o, c, counter_size_bucket(size), sum);
	else
		own_alloc(s, o, c, counter_size_bucket(size), sum);
	weight_add(o, w);
	if (!variances)
		return;
	variance_add(&variances->blocks, shared, w->blocks_variance);
	variance_add(&variances->bytes, shared, w->bytes_variance);
}

void counter_free_sampled(const struct segment *s, struct counter_owner *o, uint32_t site,
	const struct counter_freed *end, const struct poisson_weight *w)
{
	const struct counter_sum sum = { w->blocks, w->bytes };
	struct ht_counter *c = counter_of(s, o, known_of(o, site), site);
	struct ht_variance *variances = variances_of(s, o, c);
	bool shared = ht_counter_slot(c->key) == 0;

	if (shared)
		other_free(s, o, c, end, sum);
	else
		own_free(s, o, c, end, sum);
	weight_add(o, w);
	if (!variances)
		return;
	variance_add(&variances->free_blocks, shared, w->blocks_variance);
	variance_add(&variances->free_bytes, shared, w->bytes_variance);
}

uint32_t counter_free_sampled_block(const struct segment *s, struct counter_owner *o,
	uint32_t counter, const struct counter_freed *end, const struct poisson_weight *w)
{
	uint32_t owner = (uint32_t)ht_load_relaxed_64(&o->owners[counter]);

	foreign_count(o, owner, (struct counter_sum){ w->blocks, w->bytes });
	counter_free_sampled(s, o, ht_owner_site(owner), end, w);
	return ht_owner_site(owner);
}
