/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of what the diagnosis of a wrong free rests on: the table of wrong frees, what a freed
 * entry of the live table still tells, and the search for the block around an address.
 */
#include "tests/unit/live_fixture.h"

#include "shm/commit.h"
#include "shm/counter.h"
#include "shm/live_around.h"
#include "shm/wrong_frees.h"

static uint64_t random_state = 4711;

static struct ht_wrong_frees *table_of(const struct segment *s)
{
	return segment_at(s, s->header->region[HT_REGION_WRONG_FREES].offset);
}

static unsigned entries(const struct ht_wrong_frees *t)
{
	unsigned used = 0;

	for (unsigned i = 0; i < HT_WRONG_MOST; i++)
		used += t->entry[i].key != 0;
	return used;
}

TEST(table)
{
	struct wrong_free w = { .kind = HT_WRONG_SIZED, .alloc_site = 7, .bytes = 16, .want = 24 };
	const struct ht_wrong_frees *t;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	t = table_of(&f.s);
	CHECK(!commit_has(&f.s, f.s.header->region[HT_REGION_WRONG_FREES].offset));
	wrong_frees_add(&f.s, &w, 9);
	w.want = 25;
	wrong_frees_add(&f.s, &w, 9);
	CHECK_INT(entries(t), 1);
	wrong_frees_add(&f.s, &w, 10);
	w.alloc_site = 8;
	wrong_frees_add(&f.s, &w, 10);
	w.kind = HT_WRONG_MISMATCHED;
	wrong_frees_add(&f.s, &w, 10);
	CHECK_INT(entries(t), 4);
	CHECK_INT(t->count[HT_WRONG_SIZED], 4);
	CHECK_INT(t->count[HT_WRONG_MISMATCHED], 1);
	for (unsigned i = 0; i < HT_WRONG_MOST; i++) {
		if (t->entry[i].key != ht_wrong_key(HT_WRONG_SIZED, 9, 7))
			continue;
		CHECK_INT(t->entry[i].count, 2);
		CHECK_INT(t->entry[i].bytes, 32);
		CHECK_INT(t->entry[i].want, 25);
	}
	fixture_close(&f);
}

TEST(table_full)
{
	struct wrong_free w = { .kind = HT_WRONG_UNKNOWN };
	const struct ht_wrong_frees *t;
	uint64_t listed = 0;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	t = table_of(&f.s);
	for (uint32_t site = 1; site <= 5000; site++)
		wrong_frees_add(&f.s, &w, site);
	for (unsigned i = 0; i < HT_WRONG_MOST; i++)
		listed += t->entry[i].count;
	CHECK_INT(entries(t), HT_WRONG_MOST);
	CHECK_INT(t->count[HT_WRONG_UNKNOWN], 5000);
	CHECK_INT(listed + t->refused[HT_WRONG_UNKNOWN], 5000);
	fixture_close(&f);
}

/* A freed block is remembered until another one takes its entry, and is never taken for live. */
TEST(former)
{
	static const uint64_t sizes[] = { 0, 24, 40, 100, 126, 127, 5000 };
	struct live_block b, want;
	struct fixture f;

	open_full(&f, true);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (uint64_t addr = BASE + 0x10000 * i; addr < BASE + 0x10000 * i + 256;
			addr += 16) {
			want = block(addr, sizes[i]);
			CHECK(!live_direct_former(&f.s, addr, &b));
			CHECK_INT(put(&f.s, addr, sizes[i]), 0);
			CHECK(!live_direct_former(&f.s, addr, &b));
			CHECK(take(&f.s, addr, sizes[i]));
			CHECK(live_direct_former(&f.s, addr, &b));
			CHECK(b.counter == want.counter && b.tick == want.tick);
			CHECK_INT(b.size, sizes[i] < HT_ENTRY_SIZE ? sizes[i] : 0);
			CHECK(!live_find(&f.s, addr, &b) && !live_remove(&f.s, addr, &b));
			for (uint64_t off = 1; off < 16; off++)
				CHECK(!live_direct_former(&f.s, addr + off, &b) &&
					!live_remove(&f.s, addr + off, &b));
		}
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

/* ---- live_around ---- */

#define BLOCKS 3000u
static struct {
	uint64_t addr, size;
	bool live;
} blocks[BLOCKS];

/* The block around an address, by the list. */
static uint64_t around(uint64_t addr)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		if (blocks[i].live && blocks[i].addr < addr &&
			addr - blocks[i].addr < blocks[i].size)
			return blocks[i].addr;
	return 0;
}

static void blocks_make(const struct segment *s, bool glibc)
{
	uint64_t at = BASE - 3000000;

	for (unsigned i = 0; i < BLOCKS; i++) {
		uint64_t r = fixture_random(&random_state), size = edge_sizes[r % (EDGES - 1)];

		blocks[i].addr = at;
		blocks[i].size = size;
		blocks[i].live = r >> 32 & 1;
		CHECK_INT(put(s, at, size), 0);
		at += pitch(glibc, size);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		if (!blocks[i].live)
			CHECK(take(s, blocks[i].addr, blocks[i].size));
}

static void check_around(bool glibc)
{
	struct live_block b, want;
	unsigned bad = 0, found = 0;
	struct fixture f;

	open_full(&f, glibc);
	blocks_make(&f.s, glibc);
	for (unsigned i = 0; i < BLOCKS; i++)
		for (unsigned j = 0; j < 6; j++) {
			uint64_t off = j < 3 ? j * 8 + j % 2
					     : fixture_random(&random_state) % (blocks[i].size + 1);
			uint64_t addr = blocks[i].addr + off, start = 0;
			uint64_t expected = around(addr);
			bool got = live_around(&f.s, addr, true, &b, &start);

			bad += got != (expected != 0) || (got && start != expected);
			want = block(start, b.size);
			bad += got && !same(&b, &want);
			found += got;
		}
	CHECK_INT(bad, 0);
	CHECK(found > BLOCKS / 2);
	fixture_close(&f);
}

TEST(around_glibc)
{
	check_around(true);
}

TEST(around_other)
{
	check_around(false);
}

/* A counter knows the family of its site's function, and of no other. A function whose family is
 * not known may free its blocks, too. */
TEST(families)
{
	static struct counter_owner owner;
	static const uint64_t pcs[] = { 0x401000 };
	static const uint32_t modules[] = { 0 };
	struct stack_trace t = { .count = 1, .pcs = pcs, .modules = modules };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	counter_own(&f.s, &owner, 1);
	for (uint32_t function = HT_FN_MALLOC; function <= HT_FN_NEW_ARRAY_ALIGNED_NOTHROW;
		function++) {
		uint32_t site, counter;

		t.function = function;
		site = stack_intern(&f.s, &t);
		counter = counter_claim(&f.s, site, 1);
		CHECK(site != 0 && counter != 0);
		CHECK_INT(counter_family(&owner, counter), ht_family(function));
		CHECK_INT(counter_site(&owner, counter), site);
		for (uint32_t i = 0; i < HT_FAMILY_COUNT; i++)
			CHECK((counter_own_site(&owner, counter, i) == site) ==
				(i == ht_family(function) || i == HT_FAMILY_ANY));
		counter_own(&f.s, &owner, 2);
		CHECK(counter_own_site(&owner, counter, HT_FAMILY_ANY) >= HT_SITES_MAX);
		counter_own(&f.s, &owner, 1);
	}
	counter_own_none(&owner);
	CHECK(counter_own_site(&owner, 1, HT_FAMILY_ANY) >= HT_SITES_MAX);
	counter_own(&f.s, &owner, 1);
	CHECK_INT(counter_family(&owner, 0), HT_FAMILY_ANY);
	CHECK_INT(ht_family(HT_FN_FREE), ht_family(HT_FN_REALLOC));
	CHECK_INT(ht_family(HT_FN_DELETE), ht_family(HT_FN_NEW_NOTHROW));
	CHECK(ht_family(HT_FN_DELETE_ARRAY) != ht_family(HT_FN_DELETE));
	fixture_close(&f);
}

int main(void)
{
	RUN(table);
	RUN(table_full);
	RUN(former);
	RUN(around_glibc);
	RUN(around_other);
	RUN(families);
	return check_end();
}
