/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overflow of the live table (live_overflow.h). Runs inside hooks, on any thread of the
 * program: no locks, no system calls but those that populate a fresh unit. Edges LIVE and LEVEL of
 * shm/layout.h are kept here.
 */
#include "shm/live_overflow.h"

#define SIZE_MASK ((1ull << HT_LIVE_SIZE_BITS) - 1)
#define TICK_MASK ((1ull << HT_LIVE_TICK_BITS) - 1)

/* Where a block is, or would be. */
struct place {
	uint32_t level;
	uint32_t home; /* bucket number */
	uint32_t passed; /* buckets between home and this one */
	uint32_t slot;
};

/* Fibonacci hashing; the xor folds in the bits that distinguish mmap regions and arenas. */
static uint32_t hash_of(uint64_t v, uint32_t bits)
{
	return (uint32_t)((v ^ v >> 26) * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

static inline uint32_t home_bucket(const struct ht_header *h, uint32_t level, uint64_t addr)
{
	return hash_of(addr >> 3, segment_level_log2(h, level));
}

static inline uint64_t bucket_offset(
	const struct segment *s, uint32_t level, uint32_t home, uint32_t passed)
{
	uint64_t mask = (1ull << segment_level_log2(s->header, level)) - 1;

	return segment_level_offset(s->header, level) +
	       ((home + passed) & mask) * sizeof(struct ht_bucket);
}

static struct ht_bucket *bucket_at(const struct segment *s, const struct place *p)
{
	return segment_at(s, bucket_offset(s, p->level, p->home, p->passed));
}

void live_overflow_unpack(const struct ht_live_payload *p, struct live_block *out)
{
	uint64_t word = ht_load_relaxed_64(&p->counter_tick);
	uint64_t size = ht_load_relaxed_64(&p->size_rate);

	out->size = size & SIZE_MASK;
	out->tick = word & TICK_MASK;
	out->counter = ((uint32_t)(word >> HT_LIVE_TICK_BITS) & (HT_COUNTERS_MAX - 1)) |
		       (uint32_t)(size >> HT_LIVE_SIZE_BITS & 63) << LIVE_RATE_SHIFT;
}

static void payload_store(struct ht_live_payload *p, const struct live_block *b)
{
	/* Relaxed: the key that makes them visible is stored with release. */
	ht_store_relaxed_64(&p->size_rate, b->size | (uint64_t)live_rate(b) << HT_LIVE_SIZE_BITS);
	ht_store_relaxed_64(&p->counter_tick, (b->tick & TICK_MASK) | (uint64_t)live_counter(b)
									      << HT_LIVE_TICK_BITS);
}

/* Searches one level. An uncommitted bucket was never written, so no block passed over it either. A
 * key equal to `addr` was stored before the program got the address (or by this thread), so relaxed
 * loads see it; acquire orders the payload reads for a block that another thread inserted. */
static bool level_search(const struct segment *s, uint64_t addr, struct place *p)
{
	p->home = home_bucket(s->header, p->level, addr);
	for (p->passed = 0; p->passed < HT_PROBE_BUCKETS; p->passed++) {
		uint64_t at = bucket_offset(s, p->level, p->home, p->passed);
		const struct ht_bucket *b = segment_at(s, at);

		if (!commit_has(s, at))
			return false;
		for (p->slot = 0; p->slot < HT_BUCKET_SLOTS; p->slot++)
			if (ht_load_acquire_64(&b->key[p->slot]) == addr) /* LIVE */
				return true;
		if (ht_load_relaxed_64(&b->overflow) == 0)
			return false;
	}
	return false;
}

static bool search(const struct segment *s, uint64_t addr, struct place *p)
{
	if (addr <= HT_KEY_CLAIMED)
		return false;
	/* LEVEL: a level that holds our block was counted before the block went in. */
	for (uint32_t n = ht_load_acquire_32(&s->header->live_levels); n-- > 0;) {
		p->level = n;
		if (level_search(s, addr, p))
			return true;
	}
	return false;
}

bool live_overflow_find(const struct segment *s, uint64_t addr, struct live_block *out)
{
	struct place p;

	if (!search(s, addr, &p))
		return false;
	live_overflow_unpack(&bucket_at(s, &p)->payload[p.slot], out);
	return true;
}

/* Adds `delta` to the overflow count of the first `count` buckets from home on. */
static void overflow_add(
	const struct segment *s, const struct place *p, uint32_t count, uint64_t delta)
{
	struct place q = *p;

	for (q.passed = 0; q.passed < count; q.passed++)
		ht_add_relaxed_64(&bucket_at(s, &q)->overflow, delta);
}

bool live_overflow_take(const struct segment *s, uint64_t addr, struct live_block *out)
{
	struct place p;
	struct ht_bucket *b;

	if (!search(s, addr, &p))
		return false;
	b = bucket_at(s, &p);
	live_overflow_unpack(&b->payload[p.slot], out);
	/* LIVE: release keeps the payload reads above ahead of the next owner's writes. The counts
	 * go down after the key: while they are too high a search only reads more than it must. */
	ht_store_release_64(&b->key[p.slot], HT_KEY_FREE);
	overflow_add(s, &p, p.passed, (uint64_t)-1);
	return true;
}

/* Claims a free slot of bucket `p`, fills it and publishes. */
static bool bucket_put(
	const struct segment *s, struct place *p, uint64_t addr, const struct live_block *block)
{
	struct ht_bucket *b = bucket_at(s, p);

	for (p->slot = 0; p->slot < HT_BUCKET_SLOTS; p->slot++) {
		uint64_t expected = HT_KEY_FREE;

		if (ht_load_relaxed_64(&b->key[p->slot]) != HT_KEY_FREE)
			continue;
		/* LIVE: acquire pairs with the release of the removal that freed the slot. */
		if (!ht_cas_acquire_64(&b->key[p->slot], &expected, HT_KEY_CLAIMED))
			continue;
		/* LIVE: a reader that sees a word of the new payload will not see the old key after
		 * it. No instruction on x86. */
		ht_fence_release();
		payload_store(&b->payload[p->slot], block);
		ht_store_release_64(&b->key[p->slot], addr); /* LIVE: publishes the payload */
		return true;
	}
	return false;
}

/* Inserts a block into `level`. Every bucket passed over is counted before the block goes in
 * further on, so that no search can stop short of it; without room the counts are taken back. */
static bool level_put(
	const struct segment *s, uint32_t level, uint64_t addr, const struct live_block *block)
{
	struct place p = { .level = level, .home = home_bucket(s->header, level, addr) };

	for (p.passed = 0; p.passed < HT_PROBE_BUCKETS; p.passed++) {
		uint64_t at = bucket_offset(s, level, p.home, p.passed);

		if (commit_range(s, at, sizeof(struct ht_bucket)) != 0)
			break;
		if (bucket_put(s, &p, addr, block))
			return true;
		ht_add_relaxed_64(&bucket_at(s, &p)->overflow, 1);
	}
	overflow_add(s, &p, p.passed, (uint64_t)-1);
	return false;
}

/* Adds the next level, unless another thread just did. */
static bool grow(const struct segment *s, uint32_t levels)
{
	if (levels >= s->header->live_levels_max)
		return false;
	/* A probe of the level's first unit: no memory, no level. */
	if (commit_range(s, segment_level_offset(s->header, levels), 1) != 0)
		return false;
	ht_cas_acq_rel_32(&s->header->live_levels, &levels, levels + 1); /* LEVEL */
	return true;
}

bool live_overflow_put(const struct segment *s, uint64_t addr, const struct live_block *block)
{
	uint32_t levels;

	do {
		levels = ht_load_acquire_32(&s->header->live_levels); /* LEVEL */
		if (levels != 0 && level_put(s, levels - 1, addr, block))
			return true;
	} while (grow(s, levels));
	/* No new level is available: use the room that deletions left in the older ones. */
	while (levels-- > 1)
		if (level_put(s, levels - 1, addr, block))
			return true;
	return false;
}

static void probe_bucket(
	const struct segment *s, uint32_t level, uint32_t number, struct live_overflow_probe *out)
{
	uint64_t mask = (1ull << segment_level_log2(s->header, level)) - 1;
	uint64_t at = bucket_offset(s, level, number, 0);
	const struct ht_bucket *b = segment_at(s, at);

	if (!commit_has(s, at))
		return;
	out->overflow += b->overflow;
	for (unsigned i = 0; i < HT_BUCKET_SLOTS; i++) {
		uint64_t passed;

		if (b->key[i] <= HT_KEY_CLAIMED)
			continue;
		passed = (number - home_bucket(s->header, level, b->key[i])) & mask;
		out->blocks++;
		out->buckets_passed += passed;
		if (passed > out->longest)
			out->longest = passed;
	}
}

static void probe_level(const struct segment *s, uint32_t level, struct live_overflow_probe *out)
{
	for (uint32_t i = 0; i < 1u << segment_level_log2(s->header, level); i++)
		probe_bucket(s, level, i, out);
}

void live_overflow_probe_length(const struct segment *s, struct live_overflow_probe *out)
{
	*out = (struct live_overflow_probe){ 0 };
	for (uint32_t level = 0; level < s->header->live_levels; level++)
		probe_level(s, level, out);
}

/* ---- for diagnosis ---- */

static bool bucket_around(
	const struct ht_bucket *b, uint64_t addr, struct live_block *out, uint64_t *start)
{
	for (uint32_t slot = 0; slot < HT_BUCKET_SLOTS; slot++) {
		*start = ht_load_acquire_64(&b->key[slot]); /* LIVE */
		if (*start <= HT_KEY_CLAIMED || *start >= addr)
			continue;
		live_overflow_unpack(&b->payload[slot], out);
		if (addr - *start < out->size)
			return true;
	}
	return false;
}

bool live_overflow_around(
	const struct segment *s, uint64_t addr, struct live_block *out, uint64_t *start)
{
	uint32_t levels = ht_load_acquire_32(&s->header->live_levels); /* LEVEL */

	for (uint32_t level = 0; level < levels; level++) {
		uint64_t buckets = 1ull << segment_level_log2(s->header, level);

		for (uint64_t i = 0; i < buckets; i++) {
			uint64_t at = bucket_offset(s, level, (uint32_t)i, 0);

			if (commit_has(s, at) && bucket_around(segment_at(s, at), addr, out, start))
				return true;
		}
	}
	return false;
}
