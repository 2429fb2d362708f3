/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the blocks of pools in shm/mappings. */
#include "shm/mappings.h"
#include "shm/stack.h"
#include "tests/unit/shm_fixture.h"

#define PAGE  4096ull
#define BASE  0x7f0000000000ull
#define SITES 2u

static uint32_t sites[SITES + 1];

static void sites_make(const struct segment *s)
{
	for (uint32_t i = 1; i <= SITES; i++) {
		uint64_t pc = 0x1000 * i;
		uint32_t module = 0;
		struct stack_trace t = { HT_FN_MMAP, 1, false, &pc, &module, NULL, 0 };

		sites[i] = stack_intern(s, &t);
		CHECK(sites[i] != 0);
	}
}

static uint64_t at_page(uint64_t page)
{
	return BASE + page * PAGE;
}

static void enter(const struct segment *s, uint64_t start, uint64_t end, uint32_t site)
{
	struct mappings_block b = { start, end, 7, site, HT_MAPPING_MMAP, 0 };

	mappings_enter(s, &b);
}

/* In another space than the block that holds it, with other totals. */
TEST(pools)
{
	const uint64_t at = at_page(0) + 100 + HT_POOL_SPACE;
	struct fixture f;
	struct mappings_block b = { at, at + 50, 7, 0, HT_MAPPING_POOL, 0 };
	struct ht_header *h;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	h = f.s.header;
	enter(&f.s, at_page(0), at_page(1), sites[1]);
	b.site = sites[2];
	for (unsigned i = 0; i < 4; i++, b.start += 50, b.end += 50)
		mappings_enter(&f.s, &b);
	CHECK_INT(h->pool_blocks, 4);
	CHECK_INT(h->pool_bytes, 200);
	mappings_pool_free(&f.s, at + 50);
	mappings_pool_free(&f.s, at + 50); /* not any more */
	mappings_pool_free(&f.s, at + 51); /* nor inside */
	mappings_pool_free(&f.s, at_page(0)); /* nor of another kind */
	CHECK_INT(h->pool_gone_blocks, 1);
	CHECK_INT(h->pool_gone_bytes, 50);
	mappings_pool_reset(&f.s, at, at + 125); /* one, and half of another */
	CHECK_INT(h->pool_gone_blocks, 2);
	CHECK_INT(h->pool_gone_bytes, 125);
	b.start = at + 160;
	b.end = at + 170;
	mappings_enter(&f.s, &b); /* inside another */
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 75);
	CHECK_INT(h->pool_blocks - h->pool_gone_blocks, 3);
	mappings_pool_reset(&f.s, at, at + 1000);
	CHECK_INT(h->pool_blocks - h->pool_gone_blocks, 0);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 0);
	CHECK_INT(h->pool_peak_bytes, 200);
	CHECK_INT(h->map_bytes - h->unmap_bytes, PAGE);
	CHECK_INT(h->maps, 1);
	CHECK_INT(h->mapped_peak_bytes, PAGE);
	CHECK_INT(h->missed_unmap_bytes + h->unknown_unmap_bytes + h->untracked_maps, 0);
	fixture_close(&f);
}

/* Their blocks lie mixed; one of them is in pieces. */
TEST(one_pool_ends)
{
	const uint64_t at = at_page(0) + HT_POOL_SPACE;
	struct fixture f;
	struct mappings_block b = { at, at + 20, 7, 0, HT_MAPPING_POOL, 0 };
	struct ht_header *h;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	h = f.s.header;
	b.site = sites[1];
	for (unsigned i = 0; i < 9; i++, b.start += 20, b.end += 20) {
		b.pool = 1 + i % 3;
		mappings_enter(&f.s, &b);
	}
	b.start = at + 5; /* inside the first, which is of pool 1 */
	b.end = at + 10;
	b.pool = 2;
	mappings_enter(&f.s, &b);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 180);
	mappings_pool_end(&f.s, at, at + 1000, 1);
	CHECK_INT(h->pool_blocks - h->pool_gone_blocks, 7);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 125);
	mappings_pool_end(&f.s, at + 20, at + 1000, 2); /* not the one before */
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 65);
	h->mapping_lock = 1;
	mappings_pool_end(&f.s, at, at + 1000, 3);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 65);
	h->mapping_lock = 0;
	enter(&f.s, at_page(0), at_page(1), sites[1]);
	CHECK_INT(h->pool_blocks - h->pool_gone_blocks, 1);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 5);
	fixture_close(&f);
}

/* The lock is taken: applied by its holder, in order. */
TEST(pools_queued)
{
	const uint64_t at = at_page(0) + HT_POOL_SPACE;
	struct fixture f;
	struct mappings_block b = { at, at + 10, 7, 0, HT_MAPPING_POOL, 0 };
	struct ht_header *h;

	fixture_open(&f, SEGMENT_SMALL);
	sites_make(&f.s);
	h = f.s.header;
	b.site = sites[1];
	h->mapping_lock = 1;
	mappings_enter(&f.s, &b);
	mappings_pool_free(&f.s, at);
	mappings_enter(&f.s, &b);
	mappings_pool_reset(&f.s, at, at + 4);
	CHECK_INT(h->pool_blocks, 0);
	h->mapping_lock = 0;
	enter(&f.s, at_page(0), at_page(1), sites[1]);
	CHECK_INT(h->pool_blocks, 2);
	CHECK_INT(h->pool_gone_blocks, 1);
	CHECK_INT(h->pool_bytes - h->pool_gone_bytes, 6);
	h->mapping_lock = 1;
	h->mappings = UINT32_MAX; /* nor is there room to queue, */
	h->mapping_spare = 0; /* and what earlier calls were in is in use */
	mappings_enter(&f.s, &b);
	mappings_pool_free(&f.s, at);
	CHECK_INT(h->pool_untracked, 2);
	CHECK_INT(h->pool_untracked_bytes, 10);
	fixture_close(&f);
}

int main(void)
{
	RUN(pools);
	RUN(one_pool_ends);
	RUN(pools_queued);
	return check_end();
}
