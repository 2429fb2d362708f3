/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of the live table by one thread: every extent and edge, addresses that are no blocks',
 * blocks as close as they get, and a random walk against a plain list.
 */
#include "tests/unit/live_fixture.h"

static uint64_t random_state = 42;

/* ---- births ---- */

TEST(births)
{
	uint64_t bad = 0, last = 0;

	for (uint64_t t = 0; t < 1u << LIVE_BIRTH_EXACT; t += 977)
		bad += live_birth(t) != t || live_tick(live_birth(t)) != t;
	CHECK_INT(bad, 0);
	/* Later ones are rounded down, by less than one part in 2^24, and stay in order. */
	for (uint64_t t = 1; t < 1ull << 40; t += t / 1000 + 1) {
		uint64_t back = live_tick(live_birth(t));

		bad += live_birth(t) >> HT_ENTRY_BIRTH_BITS != 0 || back > t ||
		       t - back > t >> 24 || back < last;
		last = back;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(live_tick(live_birth((1ull << LIVE_BIRTH_EXACT) - 1)),
		(1ull << LIVE_BIRTH_EXACT) - 1);
	CHECK_INT(live_tick(live_birth((1ull << LIVE_BIRTH_EXACT) + 3)), 1ull << LIVE_BIRTH_EXACT);
	CHECK_INT(live_birth(UINT64_MAX), (1u << HT_ENTRY_BIRTH_BITS) - 1);
	CHECK_INT(
		live_tick((1u << HT_ENTRY_BIRTH_BITS) - 1), ((1ull << LIVE_BIRTH_EXACT) - 1) << 14);
}

/* Every bit of each field comes back, whatever the others are, and none is in another's. */
TEST(entries)
{
	uint64_t bad = 0;

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t r = fixture_random(&random_state), addr = BASE + (r & 0xffff8);
		uint64_t size = fixture_random(&random_state) & HT_ENTRY_SIZE;
		uint64_t tick = fixture_random(&random_state) % (1ull << LIVE_BIRTH_EXACT);
		uint32_t counter = (uint32_t)(r >> 32) & (HT_COUNTERS_MAX - 1);
		uint64_t entry = live_entry(addr, size, tick, counter);
		struct live_block b = live_unpack(entry);

		bad += b.size != size || b.tick != tick || b.counter != counter;
		bad += (entry & HT_ENTRY_WHICH) != live_which(addr);
		bad += (entry & HT_ENTRY_WHICH) == live_which(addr + 1 + r % 7);
		bad += (entry & HT_ENTRY_KIND) == HT_ENTRY_EXTENSION;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(
		live_unpack(live_entry(BASE, 0, 0, HT_COUNTER_HIDDEN)).counter, HT_COUNTER_HIDDEN);
}

/* ---- one block at a time ---- */

/* At every offset in a line; at the start and end of a page, a group of pages, and a piece. */
static void check_edges(bool glibc)
{
	static const uint64_t places[] = { 0x100000, HT_PAGE_SPAN, HT_PAGE_SPAN * HT_GROUP_PAGES,
		HT_PIECE_BYTES };
	uint64_t bad = 0, count = 0;
	struct fixture f;

	open_full(&f, glibc);
	for (unsigned p = 0; p < sizeof(places) / sizeof(places[0]); p++)
		for (uint64_t at = BASE + places[p] - 192; at < BASE + places[p] + 192; at += 8)
			for (unsigned i = 0; i < EDGES; i++) {
				bad += put(&f.s, at, edge_sizes[i]) != 0;
				bad += !is_there(&f.s, at, edge_sizes[i]);
				bad += !take(&f.s, at, edge_sizes[i]);
				bad += is_there(&f.s, at, edge_sizes[i]);
				count++;
			}
	CHECK_INT(bad, 0);
	CHECK(count > 4 * 40 * EDGES);
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

TEST(edges_glibc)
{
	check_edges(true);
}

TEST(edges_any_allocator)
{
	check_edges(false);
}

/* Nothing but the block's own address finds it. */
TEST(other_addresses)
{
	struct live_block got;
	uint64_t bad = 0;
	struct fixture f;

	open_full(&f, false);
	for (uint64_t at = BASE + HT_PIECE_BYTES - 128; at < BASE + HT_PIECE_BYTES + 128; at += 8)
		for (unsigned i = 0; i < EDGES; i++) {
			bad += put(&f.s, at, edge_sizes[i]) != 0;
			for (uint64_t other = at - 300; other < at + 300; other++)
				bad += other != at && (live_find(&f.s, other, &got) ||
							      live_remove(&f.s, other, &got));
			bad += !take(&f.s, at, edge_sizes[i]);
		}
	CHECK_INT(bad, 0);
	CHECK(!live_remove(&f.s, 0, &got));
	CHECK(!live_remove(&f.s, UINT64_MAX, &got));
	CHECK(!live_remove(&f.s, BASE + 77 * HT_PIECE_BYTES, &got));
	fixture_close(&f);
}

/* No allocator hands such out, but nothing may come of it. */
/* The short look says "absent" of nothing that is there, and of what is not, where it can tell. */
TEST(absence)
{
	uint64_t bad = 0, told = 0;
	struct fixture f;

	open_full(&f, true);
	CHECK(!live_is_absent(&f.s, 0));
	CHECK(!live_is_absent(&f.s, BASE)); /* no piece: nothing to look at, nor memory for it */
	for (uint64_t at = BASE; at < BASE + 0x40000; at += 96) {
		uint64_t size = at % 7 * 11;

		bad += put(&f.s, at, size) != 0;
		bad += live_is_absent(&f.s, at);
		told += live_is_absent(&f.s, at + 48);
		bad += at % 192 == 0 && !take(&f.s, at, size);
		bad += at % 192 == 0 && !live_is_absent(&f.s, at);
	}
	CHECK_INT(bad, 0);
	CHECK_INT(told, 0x40000 / 96 + 1);
	fixture_close(&f);
}

TEST(odd_addresses)
{
	uint64_t bad = 0;
	struct fixture f;

	open_full(&f, true);
	for (uint64_t at = BASE + 0x10000; at < BASE + 0x10100; at++)
		bad += put(&f.s, at, at % 200) != 0 && at % 8 != 0;
	CHECK_INT(bad, 0);
	for (uint64_t at = BASE + 0x10000; at < BASE + 0x10100; at++)
		bad += at % 8 != 0 && !take(&f.s, at, at % 200);
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

/* ---- blocks side by side ---- */

#define PACKED 60000u

/* As close as the allocator may put them, from shortly before the end of a piece. All are in at
 * once; every third goes and comes back. */
static void check_packed(bool glibc, uint64_t least, uint64_t most)
{
	static uint64_t addr[PACKED], size[PACKED];
	uint64_t at = BASE + HT_PIECE_BYTES - 500000 + fixture_random(&random_state) % 64 * 8,
		 bad = 0;
	struct fixture f;

	if (glibc)
		at &= ~15ull;
	open_full(&f, glibc);
	for (unsigned i = 0; i < PACKED; i++) {
		addr[i] = at;
		size[i] = least + fixture_random(&random_state) % (most - least + 1);
		at += pitch(glibc, size[i]);
		bad += put(&f.s, addr[i], size[i]) != 0;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), PACKED);
	for (unsigned i = 0; i < PACKED; i++)
		bad += !is_there(&f.s, addr[i], size[i]);
	for (unsigned i = 0; i < PACKED; i += 3)
		bad += !take(&f.s, addr[i], size[i]);
	for (unsigned i = 0; i < PACKED; i++)
		bad += is_there(&f.s, addr[i], size[i]) != (i % 3 != 0);
	for (unsigned i = 0; i < PACKED; i += 3)
		bad += put(&f.s, addr[i], size[i]) != 0;
	if (glibc && most < 4096)
		CHECK_INT(in_levels(&f.s), 0);
	for (unsigned i = 0; i < PACKED; i++)
		bad += !take(&f.s, addr[i], size[i]);
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

TEST(packed_glibc)
{
	check_packed(true, 0, 40);
	check_packed(true, 41, 41);
	check_packed(true, 100, 140);
	check_packed(true, 0, 300);
	check_packed(true, 0, 6000);
}

TEST(packed_any_allocator)
{
	check_packed(false, 1, 8);
	check_packed(false, 9, 16);
	check_packed(false, 17, 24);
	check_packed(false, 1, 24);
	check_packed(false, 9, 70);
	check_packed(false, 0, 300);
}

/* ---- a random walk ---- */

#define CELLS (1u << 16) /* of 8 bytes, around the end of a piece */
#define START (BASE + HT_PIECE_BYTES - CELLS / 2 * 8)

static struct {
	uint64_t owner[CELLS]; /* 0: free, else the block's address */
	uint64_t size[CELLS]; /* of the block that starts here */
} walk;

static uint64_t *owner_at(uint64_t addr)
{
	return &walk.owner[(addr - START) / 8];
}

static bool is_free(uint64_t addr, uint64_t bytes)
{
	for (uint64_t at = addr; at < addr + bytes; at += 8)
		if (at >= START + CELLS * 8 || *owner_at(at) != 0)
			return false;
	return true;
}

static void own(uint64_t addr, uint64_t bytes, uint64_t owner)
{
	for (uint64_t at = addr; at < addr + bytes; at += 8)
		*owner_at(at) = owner;
}

static uint64_t random_size(void)
{
	uint64_t r = fixture_random(&random_state);

	switch (r & 7) {
	case 0:
		return 4000 + (r >> 8) % 300;
	case 1:
		return (r >> 8) % 600;
	default:
		return (r >> 8) % 70;
	}
}

/* One step; returns what was wrong. */
static uint64_t step(const struct segment *s, bool glibc)
{
	uint64_t r = fixture_random(&random_state), grain = glibc ? 16 : 8;
	uint64_t addr = START + r % (CELLS * 8) / grain * grain, size, bytes,
		 *found = owner_at(addr);
	struct live_block got;

	if (*found == addr) {
		size = walk.size[(addr - START) / 8];
		if (r >> 60 == 0) /* its free is missed, and it comes again */
			return put(s, addr, size) != 1;
		own(addr, pitch(glibc, size), 0);
		return !take(s, addr, size);
	}
	if (*found != 0 || r >> 62 == 0)
		return live_remove(s, addr, &got);
	size = random_size();
	bytes = pitch(glibc, size);
	if (!is_free(addr, bytes))
		return live_find(s, addr, &got);
	own(addr, bytes, addr);
	walk.size[(addr - START) / 8] = size;
	return put(s, addr, size) != 0 || !is_there(s, addr, size);
}

static void check_walk(bool glibc)
{
	uint64_t bad = 0, blocks = 0;
	struct fixture f;

	memset(&walk, 0, sizeof(walk));
	open_full(&f, glibc);
	for (uint32_t i = 0; i < 3000000 && !bad; i++)
		bad = step(&f.s, glibc);
	CHECK_INT(bad, 0);
	for (uint64_t at = START; at < START + CELLS * 8; at += 8)
		if (*owner_at(at) == at) {
			blocks++;
			bad += !is_there(&f.s, at, walk.size[(at - START) / 8]);
		}
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), blocks);
	fixture_close(&f);
}

TEST(random_walk_glibc)
{
	check_walk(true);
}

TEST(random_walk_any_allocator)
{
	check_walk(false);
}

int main(void)
{
	RUN(births);
	RUN(entries);
	RUN(edges_glibc);
	RUN(edges_any_allocator);
	RUN(other_addresses);
	RUN(absence);
	RUN(odd_addresses);
	RUN(packed_glibc);
	RUN(packed_any_allocator);
	RUN(random_walk_glibc);
	RUN(random_walk_any_allocator);
	return check_end();
}
