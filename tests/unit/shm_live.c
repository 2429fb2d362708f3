/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/live by one thread: what goes in comes out, growth over levels, a full table, and
 * that deletion leaves nothing behind, however often.
 */
#include "tests/unit/shm_fixture.h"

#include "shm/live.h"

#define CHURN_PAIRS 2500000u /* per fill: 10 million in all, a few seconds */

/* Addresses as malloc gives them out: multiples of 16. */
static uint64_t address(uint64_t i)
{
	return 0x7f0000000000ull + i * 16;
}

static struct live_block block(uint64_t i)
{
	return (struct live_block){ .size = i * 3 + 1,
		.tick = i * 5 & 0xffffffffffull,
		.site = (uint32_t)(i * 7 & (HT_SITES_MAX - 1)),
		.thread = (uint32_t)(i * 11 & 0xffff) };
}

static int insert(const struct segment *s, uint64_t i)
{
	struct live_block b = block(i), old;

	return live_insert(s, address(i), &b, &old);
}

static bool same(const struct live_block *a, const struct live_block *b)
{
	return a->size == b->size && a->tick == b->tick && a->site == b->site &&
	       a->thread == b->thread;
}

/* Whether block i is in the table and is what was put there. */
static bool is_there(const struct segment *s, uint64_t i)
{
	struct live_block want = block(i), got;

	return live_find(s, address(i), &got) && same(&got, &want);
}

static bool take(const struct segment *s, uint64_t i)
{
	struct live_block want = block(i), got;

	return live_remove(s, address(i), &got) && same(&got, &want);
}

static void check_sound(const struct segment *s, uint64_t blocks)
{
	struct live_probe p;

	live_probe_length(s, &p);
	CHECK_INT(p.blocks, blocks);
	CHECK_INT(p.overflow, p.buckets_passed);
	CHECK(p.longest < HT_PROBE_BUCKETS);
}

TEST(in_and_out)
{
	struct fixture f;
	struct live_block b = block(1), got = { 0 };

	fixture_open(&f, SEGMENT_SMALL);
	CHECK(!live_find(&f.s, address(1), &got));
	CHECK(!live_remove(&f.s, address(1), &got));
	CHECK_INT(live_insert(&f.s, address(1), &b, &got), 0);
	CHECK(live_find(&f.s, address(1), &got) && same(&got, &b));
	CHECK(!live_find(&f.s, address(2), &got));
	check_sound(&f.s, 1);
	got = (struct live_block){ 0 };
	CHECK(live_remove(&f.s, address(1), &got) && same(&got, &b));
	CHECK(!live_remove(&f.s, address(1), &got));
	CHECK(!live_find(&f.s, address(1), &got));
	check_sound(&f.s, 0);
	fixture_close(&f);
}

TEST(largest_fields)
{
	struct fixture f;
	struct live_block b = { .size = (1ull << 48) - 1,
		.tick = (1ull << 40) - 1,
		.site = HT_SITES_MAX - 1,
		.thread = 0xffff };
	struct live_block zero = { 0 }, got;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(live_insert(&f.s, UINT64_MAX - 15, &b, &got), 0);
	CHECK_INT(live_insert(&f.s, 16, &zero, &got), 0);
	CHECK(live_find(&f.s, UINT64_MAX - 15, &got) && same(&got, &b));
	CHECK(live_find(&f.s, 16, &got) && same(&got, &zero));
	fixture_close(&f);
}

TEST(unpack)
{
	struct ht_live_payload p = { .size_thread = 0x1234000000000567ull,
		.site_tick = 0xabcdef0000000089ull };
	struct live_block b;

	live_unpack(&p, &b);
	CHECK_INT(b.size, 0x567);
	CHECK_INT(b.thread, 0x1234);
	CHECK_INT(b.site, 0xabcdef);
	CHECK_INT(b.tick, 0x89);
}

TEST(missed_free)
{
	struct fixture f;
	struct live_block first = block(1), second = block(2), got = { 0 };

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(live_insert(&f.s, address(9), &first, &got), 0);
	CHECK_INT(live_insert(&f.s, address(9), &second, &got), 1);
	CHECK(same(&got, &first));
	check_sound(&f.s, 1);
	CHECK(live_remove(&f.s, address(9), &got) && same(&got, &second));
	CHECK(!live_find(&f.s, address(9), &got));
	check_sound(&f.s, 0);
	fixture_close(&f);
}

/* Inserts blocks [0, ...) until one is refused; how many went in. */
static uint64_t fill(const struct segment *s)
{
	uint64_t n = 0;

	while (insert(s, n) == 0)
		n++;
	return n;
}

TEST(full)
{
	struct fixture f;
	uint64_t n, room, bad = 0;
	uint32_t levels;

	fixture_open(&f, SEGMENT_SMALL);
	levels = f.s.header->live_levels_max;
	n = fill(&f.s);
	CHECK_INT(f.s.header->live_levels, levels);
	room = (segment_level_bytes(f.s.header, 0) + segment_level_bytes(f.s.header, 1)) /
	       sizeof(struct ht_bucket) * HT_BUCKET_SLOTS;
	CHECK(n > room * 85 / 100);
	CHECK(n <= room);
	/* Refused is refused: nothing of it stays, again and again. */
	for (int i = 0; i < 100; i++)
		CHECK_INT(insert(&f.s, n), -ENOSPC);
	CHECK(!is_there(&f.s, n));
	check_sound(&f.s, n);
	for (uint64_t i = 0; i < n; i++)
		bad += !is_there(&f.s, i);
	CHECK_INT(bad, 0);
	/* One out, one in. */
	for (uint64_t i = 0; i < n; i++)
		bad += !take(&f.s, i);
	CHECK_INT(bad, 0);
	check_sound(&f.s, 0);
	CHECK_INT(insert(&f.s, n), 0);
	fixture_close(&f);
}

TEST(room_in_older_levels_is_used)
{
	struct fixture f;
	uint64_t n, back = 0, bad = 0;

	fixture_open(&f, SEGMENT_SMALL);
	n = fill(&f.s);
	/* The first 30,000 went into level 0, which takes no new blocks while the newer has room.
	 */
	for (uint64_t i = 0; i < 30000; i++)
		bad += !take(&f.s, i);
	for (uint64_t i = n + 1; i < n + 1 + 20000; i++)
		back += insert(&f.s, i) == 0;
	CHECK_INT(bad, 0);
	CHECK_INT(back, 20000);
	check_sound(&f.s, n - 30000 + 20000);
	fixture_close(&f);
}

TEST(growth)
{
	struct fixture f;
	const uint64_t n = 1500000;
	uint64_t bad = 0;

	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < n; i++)
		bad += insert(&f.s, i) != 0;
	CHECK_INT(bad, 0);
	CHECK(f.s.header->live_levels == 3 || f.s.header->live_levels == 4);
	check_sound(&f.s, n);
	for (uint64_t i = 0; i < n; i++)
		bad += !is_there(&f.s, i);
	for (uint64_t i = 0; i < n; i += 2)
		bad += !take(&f.s, i);
	for (uint64_t i = 0; i < n; i++)
		bad += is_there(&f.s, i) != (i % 2 == 1);
	CHECK_INT(bad, 0);
	check_sound(&f.s, n / 2);
	fixture_close(&f);
}

static double passed_mean(const struct segment *s)
{
	struct live_probe p;

	live_probe_length(s, &p);
	return p.blocks ? (double)p.buckets_passed / (double)p.blocks : 0;
}

/*
 * `live` blocks, of which one at random is replaced by a fresh one again and again. An open table
 * with tombstones gets slower with each; here the probes must stay as long as those of a table that
 * was only filled.
 */
static uint64_t churn_some(const struct segment *s, uint64_t *held, uint64_t live, uint64_t pairs)
{
	static uint64_t random = 88172645463325252ull, next = 1u << 30;
	uint64_t bad = 0;

	for (uint64_t i = 0; i < pairs; i++) {
		uint64_t at = fixture_random(&random) % live;

		bad += !take(s, held[at]);
		held[at] = next++;
		bad += insert(s, held[at]) != 0;
	}
	return bad;
}

static void churn(uint64_t live)
{
	uint64_t *held = calloc(live, sizeof(*held)), bad = 0;
	uint32_t levels;
	struct fixture f;
	double before;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint64_t i = 0; i < live; i++) {
		held[i] = i;
		bad += insert(&f.s, i) != 0;
	}
	/* Until hardly a block is where the filling put it: older levels have run empty. */
	bad += churn_some(&f.s, held, live, 8 * live);
	before = passed_mean(&f.s);
	levels = f.s.header->live_levels;
	bad += churn_some(&f.s, held, live, CHURN_PAIRS);
	CHECK_INT(bad, 0);
	check_sound(&f.s, live);
	CHECK(passed_mean(&f.s) <= before * 1.1 + 0.01);
	CHECK_INT(f.s.header->live_levels, levels);
	for (uint64_t i = 0; i < live; i++)
		bad += !take(&f.s, held[i]);
	CHECK_INT(bad, 0);
	check_sound(&f.s, 0);
	fixture_close(&f);
	free(held);
}

TEST(no_rot_few)
{
	churn(10);
}

TEST(no_rot_some)
{
	churn(2000);
}

TEST(no_rot_most_of_level_0)
{
	churn(40000);
}

TEST(no_rot_most_of_level_1)
{
	churn(150000);
}

/* Against a plain array, with inserts, removals, lookups and missed frees at random. */
TEST(naive_model)
{
	enum { KEYS = 3000, STEPS = 600000 };
	static uint64_t version[KEYS]; /* 0: not there; else what was put */
	uint64_t random = 42, bad = 0, count = 0;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	memset(version, 0, sizeof(version));
	for (uint64_t i = 1; i <= STEPS; i++) {
		uint64_t r = fixture_random(&random), key = r % KEYS;
		struct live_block want = block(version[key]), put = block(i), got = { 0 };
		bool was = version[key] != 0;

		switch (r >> 32 & 3) {
		case 0:
			bad += live_insert(&f.s, address(key), &put, &got) != was;
			version[key] = i;
			count += !was;
			break;
		case 1:
			bad += live_remove(&f.s, address(key), &got) != was;
			version[key] = 0;
			count -= was;
			break;
		default:
			bad += live_find(&f.s, address(key), &got) != was;
		}
		bad += was && !same(&got, &want);
	}
	CHECK_INT(bad, 0);
	check_sound(&f.s, count);
	fixture_close(&f);
}

/* Blocks of near, and units of it in use. */
static void near_count(const struct segment *s, uint64_t *blocks, uint64_t *units)
{
	const struct ht_region *r = &s->header->region[HT_REGION_NEAR];

	*blocks = *units = 0;
	for (uint64_t at = r->offset; at < r->offset + r->bytes; at += HT_COMMIT_BYTES)
		*units += segment_has(s, at);
	for (uint64_t i = 0; i < 1ull << s->header->near_log2; i++) {
		uint64_t at = r->offset + i * sizeof(struct ht_bucket);
		const struct ht_bucket *b = segment_at(s, at);

		for (unsigned slot = 0; segment_has(s, at) && slot < HT_BUCKET_SLOTS; slot++)
			*blocks += b->key[slot] > HT_KEY_CLAIMED;
	}
}

#define NEAR_BLOCKS 200000u

/* Blocks of `size`, `pitch` bytes apart, all found again and all gone in the end. */
static void near_round(
	uint32_t count, uint64_t size, uint64_t pitch, uint64_t *blocks, uint64_t *units)
{
	struct live_block b = { .size = size }, old;
	struct live_probe p;
	struct fixture f;
	uint32_t found = 0, taken = 0;

	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < count; i++)
		live_insert(&f.s, 0x555500000000ull + i * pitch, &b, &old);
	near_count(&f.s, blocks, units);
	live_probe_length(&f.s, &p);
	CHECK_INT(p.blocks, count);
	CHECK_INT(p.overflow, p.buckets_passed);
	for (uint64_t i = 0; i < count; i++) {
		found += live_find(&f.s, 0x555500000000ull + i * pitch, &old);
		taken += live_remove(&f.s, 0x555500000000ull + i * pitch, &old);
	}
	CHECK_INT(found, count);
	CHECK_INT(taken, count);
	check_sound(&f.s, 0);
	fixture_close(&f);
}

/* Dense small blocks are kept near each other, in memory that grows with them. */
TEST(near_takes_dense_small_blocks)
{
	uint64_t blocks, units;

	near_round(NEAR_BLOCKS, 48, 64, &blocks, &units);
	CHECK(blocks > NEAR_BLOCKS * 9ull / 10);
	CHECK(units * HT_COMMIT_BYTES < NEAR_BLOCKS * 64ull);
	near_round(NEAR_BLOCKS, 16, 32, &blocks,
		&units); /* denser than it has slots: the rest goes to the levels */
	CHECK(blocks > NEAR_BLOCKS * 6ull / 10);
}

/* Large ones, and small ones far apart, do not bring pieces into use that they would leave empty.
 */
TEST(near_leaves_sparse_blocks_to_the_levels)
{
	uint64_t blocks, units;

	near_round(NEAR_BLOCKS, 4096, 4112, &blocks, &units);
	CHECK_INT(blocks, 0);
	CHECK_INT(units, 0);
	near_round(NEAR_BLOCKS / 20, 48, 65536, &blocks, &units);
	CHECK(blocks < NEAR_BLOCKS / 20 / 10);
}

int main(void)
{
	RUN(near_takes_dense_small_blocks);
	RUN(near_leaves_sparse_blocks_to_the_levels);
	RUN(in_and_out);
	RUN(largest_fields);
	RUN(unpack);
	RUN(missed_free);
	RUN(full);
	RUN(room_in_older_levels_is_used);
	RUN(growth);
	RUN(no_rot_few);
	RUN(no_rot_some);
	RUN(no_rot_most_of_level_0);
	RUN(no_rot_most_of_level_1);
	RUN(naive_model);
	return check_end();
}
