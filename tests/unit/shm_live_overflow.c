/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of the live table's overflow by one thread, mostly in small segments, where there is
 * nothing else: what goes in comes out, growth over levels, a full table, and that deletion leaves
 * nothing behind, however often.
 */
#include "tests/unit/shm_fixture.h"

#include "shm/live_direct.h"
#include "shm/live_overflow.h"
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
		.counter = (uint32_t)(i * 7 & (HT_COUNTERS_MAX - 1)) };
}

static bool insert(const struct segment *s, uint64_t i)
{
	struct live_block b = block(i), old[LIVE_MISSED_MAX];

	return live_insert(s, address(i), &b, old) == 0;
}

static bool same(const struct live_block *a, const struct live_block *b)
{
	return a->size == b->size && a->tick == b->tick && a->counter == b->counter;
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
	struct live_overflow_probe p;

	live_overflow_probe_length(s, &p);
	CHECK_INT(p.blocks, blocks);
	CHECK_INT(p.overflow, p.buckets_passed);
	CHECK(p.longest < HT_PROBE_BUCKETS);
}

TEST(in_and_out)
{
	struct fixture f;
	struct live_block b = block(1), got = { 0 }, old[LIVE_MISSED_MAX];

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(f.s.header->live_levels, 0);
	CHECK(!live_find(&f.s, address(1), &got));
	CHECK(!live_remove(&f.s, address(1), &got));
	CHECK_INT(live_insert(&f.s, address(1), &b, old), 0);
	CHECK_INT(f.s.header->live_levels, 1);
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
	struct live_block b = {
		.size = (1ull << 48) - 1, .tick = (1ull << 40) - 1, .counter = HT_COUNTERS_MAX - 1
	};
	struct live_block zero = { 0 }, got, old[LIVE_MISSED_MAX];

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(live_insert(&f.s, UINT64_MAX - 15, &b, old), 0);
	CHECK_INT(live_insert(&f.s, 16, &zero, old), 0);
	CHECK(live_find(&f.s, UINT64_MAX - 15, &got) && same(&got, &b));
	CHECK(live_find(&f.s, 16, &got) && same(&got, &zero));
	fixture_close(&f);
}

TEST(unpack)
{
	struct ht_live_payload p = { .size_rate = 0xffd1000000000567ull,
		.counter_tick = 0xabcdef0000000089ull };
	struct live_block b;

	live_overflow_unpack(&p, &b);
	CHECK_INT(b.size, 0x567); /* whatever a segment says, in range */
	CHECK_INT(live_counter(&b), 0x2bcdef);
	CHECK_INT(live_rate(&b), 0xd1 & 63);
	CHECK_INT(b.tick, 0x89);
}

/* A sampled block is in the overflow, wherever its address is, with its rate. */
TEST(sampled)
{
	struct live_block old[LIVE_MISSED_MAX], got,
		b = { .size = 100, .tick = 7, .counter = 5 | 19u << LIVE_RATE_SHIFT };
	struct live_block exact = { .size = 100, .tick = 8, .counter = 6 };
	uint64_t addr = 0x500000000040ull;
	struct fixture f;

	fixture_open(&f, SEGMENT_FULL);
	CHECK_INT(live_insert_sampled(&f.s, addr, &b, old), 0);
	CHECK_INT(live_direct_count(&f.s), 0);
	CHECK(live_find(&f.s, addr, &got) && same(&got, &b));
	CHECK_INT(live_counter(&got), 5);
	CHECK_INT(live_rate(&got), 19);
	CHECK(got.counter > HT_COUNTER_HIDDEN);
	CHECK(live_remove(&f.s, addr, &got) && same(&got, &b));
	CHECK(!live_remove(&f.s, addr, &got));
	/* It takes the place of any other whose free was missed; */
	CHECK_INT(live_insert(&f.s, addr, &exact, old), 0);
	CHECK_INT(live_insert_sampled(&f.s, addr, &b, old), 1);
	CHECK(same(&old[0], &exact));
	CHECK_INT(live_insert_sampled(&f.s, addr, &b, old), 1);
	CHECK(same(&old[0], &b));
	/* an ordinary one does not look for it, and comes before it. */
	CHECK_INT(live_insert(&f.s, addr, &exact, old), 0);
	CHECK(live_remove(&f.s, addr, &got) && same(&got, &exact));
	CHECK_INT(live_rate(&got), 0);
	CHECK(live_remove(&f.s, addr, &got) && same(&got, &b));
	CHECK(!live_find(&f.s, addr, &got));
	fixture_close(&f);
}

/* The two values that keys have where there is no block are no blocks' addresses. */
TEST(no_addresses)
{
	struct fixture f;
	struct live_block got;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK(insert(&f.s, 1));
	CHECK(!live_find(&f.s, HT_KEY_FREE, &got));
	CHECK(!live_remove(&f.s, HT_KEY_CLAIMED, &got));
	check_sound(&f.s, 1);
	fixture_close(&f);
}

TEST(missed_free)
{
	struct fixture f;
	struct live_block first = block(1), second = block(2), got = { 0 }, old[LIVE_MISSED_MAX];

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(live_insert(&f.s, address(9), &first, old), 0);
	CHECK_INT(live_insert(&f.s, address(9), &second, old), 1);
	CHECK(same(&old[0], &first));
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

	while (insert(s, n))
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
		CHECK(!insert(&f.s, n));
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
	CHECK(insert(&f.s, n));
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
		back += insert(&f.s, i);
	CHECK_INT(bad, 0);
	CHECK_INT(back, 20000);
	check_sound(&f.s, n - 30000 + 20000);
	fixture_close(&f);
}

/* In a segment of full size, over as many levels as it takes. */
TEST(growth)
{
	struct fixture f;
	const uint64_t n = 1500000;
	uint64_t bad = 0;
	struct live_block b;

	fixture_open(&f, SEGMENT_FULL);
	for (uint64_t i = 0; i < n; i++) {
		b = block(i);
		bad += !live_overflow_put(&f.s, address(i), &b);
	}
	CHECK_INT(bad, 0);
	CHECK(f.s.header->live_levels == 5 || f.s.header->live_levels == 6);
	check_sound(&f.s, n);
	for (uint64_t i = 0; i < n; i++)
		bad += !live_overflow_find(&f.s, address(i), &b) || !is_there(&f.s, i);
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
	struct live_overflow_probe p;

	live_overflow_probe_length(s, &p);
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
		bad += !insert(s, held[at]);
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
		bad += !insert(&f.s, i);
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
		struct live_block want = block(version[key]), put = block(i), got = { 0 },
				  old[LIVE_MISSED_MAX];
		bool was = version[key] != 0;

		switch (r >> 32 & 3) {
		case 0:
			bad += live_insert(&f.s, address(key), &put, old) != was;
			got = old[0];
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

int main(void)
{
	RUN(in_and_out);
	RUN(largest_fields);
	RUN(unpack);
	RUN(sampled);
	RUN(no_addresses);
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
