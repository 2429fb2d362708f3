/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live blocks in groups, and what comes of them from another machine. */
#include "src/session/live_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"
#include "src/session/live_allocs.h"
#include "tests/check.h"

#define BLOCKS 20000u /* more than there are slots at first */
#define SITES  300u
#define TICKS  1000u

static const struct live_cut cuts_of[] = {
	{ LIVE_CUT_ALL, 500 },
	{ 7, 100 },
	{ 7, 900 },
	{ LIVE_CUT_ALL, 200 },
	{ SITES - 1, 0 },
};
#define CUTS (sizeof(cuts_of) / sizeof(cuts_of[0]))

static struct read_block blocks[BLOCKS];

/* Each site has blocks of two threads; a few are sampled. */
static void blocks_make(void)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < BLOCKS; i++) {
		struct read_block *b = &blocks[i];

		seed = seed * 1103515245u + 12345u;
		*b = (struct read_block){ .addr = 0x1000 + i * 16ull,
			.size = seed >> 8 & 0xfff,
			.tick = (seed >> 4) % TICKS,
			.site = i % SITES,
			.slot = 1 + i / SITES % 2,
			.rate = i % 97 == 0 ? 19 : 0 };
		b->counter = 10 + b->site * 2 + b->slot - 1;
	}
}

static struct live_cuts *cuts_make(void)
{
	struct live_cuts *c = calloc(1, sizeof(*c));

	for (unsigned i = 0; i < CUTS; i++)
		live_cuts_add(c, cuts_of[i].site, cuts_of[i].tick);
	CHECK(!c->full && c->count == CUTS);
	return c;
}

static struct bytes answer_make(const struct live_cuts *c)
{
	struct live_groups *g = live_groups_new(c);
	struct bytes b = { 0 };

	for (unsigned i = 0; i < BLOCKS; i++)
		CHECK(live_groups_add(g, &blocks[i]));
	live_groups_put(&b, g);
	live_groups_free(g);
	CHECK(!b.failed);
	return b;
}

/* A cut separates this group's first and last. */
static bool is_cut(const struct live_group *g)
{
	for (unsigned i = 0; i < CUTS; i++)
		if ((cuts_of[i].site == LIVE_CUT_ALL || cuts_of[i].site == g->site) &&
			g->first < cuts_of[i].tick && g->last >= cuts_of[i].tick)
			return true;
	return false;
}

struct seen {
	unsigned groups, wrong;
	uint64_t blocks, bytes;
};

static void group_see(void *ctx, const struct live_group *g)
{
	struct seen *s = ctx;
	uint64_t n = 0, bytes = 0, first = UINT64_MAX, last = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		const struct live_group one = live_group_of(&blocks[i]);

		if (one.counter != g->counter || one.first < g->first || one.first > g->last)
			continue;
		s->wrong += one.site != g->site || one.slot != g->slot;
		first = one.first < first ? one.first : first;
		last = one.last > last ? one.last : last;
		n += one.blocks;
		bytes += one.bytes;
	}
	s->wrong += n != g->blocks || bytes != g->bytes || first != g->first || last != g->last;
	s->wrong += is_cut(g);
	s->groups++;
	s->blocks += g->blocks;
	s->bytes += g->bytes;
}

TEST(groups_have_all_blocks_and_no_cut_inside)
{
	struct live_cuts *c = cuts_make();
	struct bytes b;
	struct seen seen = { 0 };
	uint64_t n = 0, bytes = 0;

	blocks_make();
	b = answer_make(c);
	CHECK_INT(live_groups_each(bytes_begin(&b), group_see, &seen), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		n += live_group_of(&blocks[i]).blocks;
		bytes += live_group_of(&blocks[i]).bytes;
	}
	CHECK(n > BLOCKS); /* some are sampled */
	CHECK_INT(seen.blocks, n);
	CHECK_INT(seen.bytes, bytes);
	CHECK_INT(seen.wrong, 0);
	/* Three spans of each thread at each site, and two more at site 7. */
	CHECK_INT(seen.groups, 2 * (3 * SITES + 2));
	bytes_free(&b);
	free(c);
}

static void cuts_same(const struct live_cuts *c)
{
	struct live_cuts *again = calloc(1, sizeof(*again));
	struct bytes b = { 0 };
	struct bytes_cursor at;

	live_cuts_put(&b, c);
	at = bytes_begin(&b);
	CHECK_INT(live_cuts_get(&at, again), 0);
	CHECK(at.at == at.end && again->count == c->count);
	CHECK(memcmp(again->cut, c->cut, c->count * sizeof(c->cut[0])) == 0);
	for (size_t len = 0; len < b.len; len++) {
		at = (struct bytes_cursor){ b.data, b.data + len, false };
		CHECK_INT(live_cuts_get(&at, again), -EPROTO);
	}
	bytes_free(&b);
	free(again);
}

TEST(cuts_as_bytes)
{
	struct live_cuts *c = cuts_make();
	static const uint8_t many[] = { 0x81, 0x08 };
	struct bytes_cursor at = { many, many + sizeof(many), false };

	cuts_same(c);
	CHECK_INT(live_cuts_get(&at, c), -EPROTO); /* 1,025 of them */
	c->count = LIVE_CUTS_MAX - 1;
	live_cuts_add(c, LIVE_CUT_ALL, 1);
	CHECK(!c->full);
	live_cuts_add(c, LIVE_CUT_ALL, 2);
	CHECK(c->full);
	CHECK_INT(c->count, LIVE_CUTS_MAX);
	free(c);
}

static void group_check(void *ctx, const struct live_group *g)
{
	(void)ctx;
	CHECK(g->site < HT_SITES_MAX && g->slot < HT_SLOTS_MAX && g->counter < HT_COUNTERS_MAX);
	CHECK(g->first <= g->last && g->last <= UINT64_MAX >> HT_TICK_SHIFT);
}

TEST(groups_that_are_cut_or_spoilt)
{
	struct live_cuts *c = cuts_make();
	struct bytes b;
	unsigned refused = 0;

	blocks_make();
	b = answer_make(c);
	b.len = b.len < 4000 ? b.len : 4000; /* of which the end is missing */
	for (size_t len = 0; len <= b.len; len++)
		CHECK_INT(live_groups_each((struct bytes_cursor){ b.data, b.data + len, false },
				  group_check, NULL),
			-EPROTO);
	bytes_free(&b);
	b = answer_make(c);
	bytes_add(&b, "", 1);
	CHECK_INT(live_groups_each(bytes_begin(&b), group_check, NULL), -EPROTO);
	b.len--;
	for (size_t i = 0; i < b.len; i += 13)
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[i] ^= (uint8_t)(1u << bit);
			refused += live_groups_each(bytes_begin(&b), group_check, NULL) != 0;
			b.data[i] ^= (uint8_t)(1u << bit);
		}
	CHECK(refused > 0);
	bytes_free(&b);
	free(c);
}

TEST(allocations_as_bytes)
{
	uint64_t site[3] = { 0, 7, 1ull << 40 };
	const struct live_allocs all = { 12345, site, 3 };
	struct live_allocs got;
	struct bytes b = { 0 };

	live_allocs_put(&b, &all);
	CHECK_INT(live_allocs_get(bytes_begin(&b), &got), 0);
	CHECK(got.all == 12345 && got.sites == 3);
	CHECK(live_allocs_of(&got, 1) == 7 && live_allocs_of(&got, 2) == 1ull << 40);
	CHECK_INT(live_allocs_of(&got, 3), 0);
	live_allocs_free(&got);
	for (size_t len = 0; len < b.len; len++) {
		struct bytes_cursor c = { b.data, b.data + len, false };

		CHECK_INT(live_allocs_get(c, &got), -EPROTO);
		CHECK(got.sites == 0 && !got.site);
	}
	bytes_number(&b, 1);
	CHECK_INT(live_allocs_get(bytes_begin(&b), &got), -EPROTO);
	b.len = 0;
	bytes_number(&b, 1);
	bytes_number(&b, HT_SITES_MAX); /* which are not there */
	CHECK_INT(live_allocs_get(bytes_begin(&b), &got), -EPROTO);
	bytes_free(&b);
}

int main(void)
{
	RUN(groups_have_all_blocks_and_no_cut_inside);
	RUN(cuts_as_bytes);
	RUN(groups_that_are_cut_or_spoilt);
	RUN(allocations_as_bytes);
	return check_end();
}
