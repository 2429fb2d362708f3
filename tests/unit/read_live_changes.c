/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which parts of the live table have changed: a copy that is updated by the reported parts equals
 * the table, whatever happened in between; and nothing else is copied again.
 */
#include <sys/stat.h>
#include "src/leak/analysis/blocks.h"
#include "src/read/segment.h"
#include "tests/unit/segment_fixture.h"

#define ROUNDS	 60u
#define CHANGES	 3000u /* at most, between two looks */
#define COUNTERS 64u
#define BASE	 (0x7f5540000000ull - 3 * HT_PAGE_SPAN) /* before the end of a piece */
#define SPAN	 (24 * HT_PAGE_SPAN)

static const uint64_t sizes[] = { 0, 8, 16, 24, 25, 40, 56, 57, 64, 126, 127, 1000, 4096, 100000 };

static uint64_t random_state = 88172645463325252ull;

static uint64_t any(uint64_t below)
{
	return fixture_random(&random_state) % below;
}

static void owners_make(const struct segment *s)
{
	uint64_t at = segment_element(s, HT_REGION_OWNERS, 0, sizeof(uint64_t));
	uint64_t *owner = segment_at(s, at);

	CHECK_INT(commit_range(s, at, COUNTERS * sizeof(*owner)), 0);
	for (uint32_t i = 0; i < COUNTERS; i++)
		owner[i] = ht_owner(i, i);
	s->header->counters = COUNTERS;
}

/* Blocks come and go, also such as seem to lie on others, whose frees were missed. */
static void change(const struct segment *s, uint64_t count)
{
	struct live_block old[LIVE_MISSED_MAX], out;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t addr = BASE + any(SPAN / 8) * 8;
		struct live_block b = { .size = sizes[any(sizeof(sizes) / sizeof(*sizes))],
			.tick = any(1u << 20),
			.counter = (uint32_t)any(COUNTERS) };

		if (any(16) == 0)
			live_insert_sampled(s, addr, &b, old);
		else if (any(3) != 0)
			live_insert(s, addr, &b, old);
		else
			live_remove(s, addr, &out);
	}
}

struct sum {
	uint64_t blocks, all;
};

static void add(void *ctx, const struct read_block *b)
{
	struct sum *sum = ctx;
	uint64_t h = b->addr * 0x9e3779b97f4a7c15ull ^ b->size * 0x9fb21c651e98df25ull ^
		     b->tick * 0xd6e8feb86659fd93ull ^ b->counter * 0xa0761d6478bd642full;

	sum->blocks++;
	sum->all += h ^ h >> 29;
}

static struct sum sum_of(struct read_segment *r)
{
	struct sum sum = { 0 };

	CHECK(read_blocks(r, add, &sum) >= 0);
	return sum;
}

/* The same of blocks that are kept and patched. */
struct kept {
	struct leak_blocks blocks, fresh;
	struct leak_range gone[4 * HT_PIECE_PAGES];
	size_t gones;
};

static void keep(struct leak_blocks *blocks, const struct read_block *b)
{
	const struct leak_block block = { b->addr, b->size, b->site, (uint32_t)b->tick };

	CHECK_INT(leak_blocks_add(blocks, &block), 0);
}

static void keep_block(void *ctx, const struct read_block *b)
{
	keep(&((struct kept *)ctx)->blocks, b);
}

static void keep_fresh(void *ctx, const struct read_block *b)
{
	keep(&((struct kept *)ctx)->fresh, b);
}

static void keep_gone(void *ctx, uint64_t start, uint64_t end)
{
	struct kept *k = ctx;

	CHECK(k->gones < sizeof(k->gone) / sizeof(*k->gone));
	k->gone[k->gones++] = (struct leak_range){ start, end };
}

static struct made made;

static struct read_segment *open_made(void)
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_segment *r = read_open(made.path, message);

	if (!r)
		made_give_up(message);
	return r;
}

static void kept_check(struct read_segment *r, const struct read_live_changes *w, struct kept *k)
{
	const struct read_changes changes = { k, keep_gone, keep_fresh };
	struct kept whole = { 0 };
	uint32_t bad = 0;

	CHECK(read_blocks_changed(w, &changes) >= 0);
	CHECK_INT(leak_blocks_patch(&k->blocks, k->gone, k->gones, &k->fresh), 0);
	CHECK(read_blocks(r, keep_block, &whole) >= 0);
	CHECK_INT(leak_blocks_finish(&whole.blocks), 0);
	CHECK_INT(k->blocks.count, whole.blocks.count);
	for (uint32_t i = 0; i < whole.blocks.count && i < k->blocks.count; i++)
		bad += memcmp(&k->blocks.block[i], &whole.blocks.block[i],
			       sizeof(struct leak_block)) != 0 ||
		       leak_blocks_find(&k->blocks, whole.blocks.block[i].addr) != i;
	CHECK_INT(bad, 0);
	leak_blocks_free(&whole.blocks);
	leak_blocks_free(&k->blocks);
	leak_blocks_free(&k->fresh);
}

static void round_check(struct read_segment *r, struct read_live_copy *f)
{
	struct read_live_changes *w;
	struct sum is, copied;
	struct kept k = { 0 };

	change(&made.s, any(CHANGES));
	w = read_live_changes_new(r);
	CHECK(w != NULL);
	if (!w)
		return;
	CHECK_INT(read_live_copy_take(f, r), 0);
	CHECK(read_blocks_paged(r, keep_block, &k) >= 0);
	CHECK_INT(leak_blocks_finish(&k.blocks), 0);
	change(&made.s, any(4) ? any(10) : any(CHANGES));
	CHECK_INT(read_live_copy_update(f, r, w), 0);
	is = sum_of(r);
	copied = sum_of(read_live_copy_segment(f));
	CHECK_INT(copied.blocks, is.blocks);
	CHECK(copied.all == is.all);
	kept_check(r, w, &k);
	read_live_changes_free(w);
}

TEST(what_changed_is_told)
{
	struct read_segment *r = open_made();
	struct read_live_copy *f = read_live_copy_new(r);

	CHECK(f != NULL);
	for (unsigned i = 0; f && i < ROUNDS; i++)
		round_check(r, f);
	read_live_copy_free(f);
	read_close(r);
}

/* Where a group of pages ends: the next page is not there if nothing is put there. */
#define EDGE (0x600000000000ull + HT_PAGE_SPAN * HT_GROUP_PAGES)

static void put(uint64_t addr, uint64_t size)
{
	struct live_block b = { .size = size, .counter = 1 }, old[LIVE_MISSED_MAX];

	live_insert(&made.s, addr, &b, old);
}

static void take(uint64_t addr)
{
	struct live_block out;

	live_remove(&made.s, addr, &out);
}

/* Also what reading passes over, the rest of a block that is none any more. */
static void edge_words_check(const struct read_segment *r, const struct read_segment *copy)
{
	const char *entry = (const char *)live_first(
		live_pieces_find(&made.s, EDGE, false), EDGE % HT_PIECE_BYTES);
	uint64_t at = (uint64_t)(entry - (const char *)made.s.header) - 4 * sizeof(uint64_t);
	uint64_t is[8], copied[8];

	CHECK_INT(read_at(r, at, is, sizeof(is)), 0);
	CHECK_INT(read_at(copy, at, copied, sizeof(copied)), 0);
	CHECK(memcmp(is, copied, sizeof(is)) == 0);
}

static void edge_check(uint64_t before, uint64_t size, uint64_t after)
{
	struct read_segment *r = open_made();
	struct read_live_copy *f = read_live_copy_new(r);
	struct read_live_changes *w;

	put(before, size);
	w = read_live_changes_new(r);
	CHECK(f && w);
	if (f && w) {
		CHECK_INT(read_live_copy_take(f, r), 0);
		after ? put(after, 100) : take(before);
		CHECK_INT(read_live_copy_update(f, r, w), 0);
		CHECK_INT(sum_of(read_live_copy_segment(f)).blocks, sum_of(r).blocks);
		CHECK(sum_of(read_live_copy_segment(f)).all == sum_of(r).all);
		edge_words_check(r, read_live_copy_segment(f));
	}
	read_live_changes_free(w);
	read_live_copy_free(f);
	read_close(r);
}

/* A block's entry, and its size, may be in the next page. */
TEST(over_the_edge_of_a_page)
{
	edge_check(EDGE - 16, 100, 0); /* entry */
	edge_check(EDGE - 64, 1000, 0); /* size */
	edge_check(EDGE - 16, 1000, 0); /* both */
	put(EDGE + 4096, 100);
	edge_check(EDGE - 64, 1000, EDGE); /* whose end shows when another has the next page */
	edge_check(EDGE - 16, 1000, EDGE);
}

/* What changes by no hook, so that nobody can tell. */
TEST(nothing_else_is_copied)
{
	struct read_segment *r = open_made();
	struct read_live_copy *f = read_live_copy_new(r);
	struct read_live_changes *w = read_live_changes_new(r);
	const struct live_block b = { .size = 100, .counter = 1 };
	struct live_block old[LIVE_MISSED_MAX];
	uint64_t addr = BASE + HT_PAGE_SPAN / 2, blocks = 0;

	CHECK(f && w);
	if (f && w) {
		live_insert(&made.s, addr, &b, old); /* the page changes ... */
		CHECK_INT(read_live_copy_take(f, r), 0);
		read_live_changes_free(w);
		w = read_live_changes_new(r); /* ... no more */
		CHECK(w != NULL);
		blocks = sum_of(read_live_copy_segment(f)).blocks;
		*live_first(live_pieces_find(&made.s, addr, false), addr & (HT_PIECE_BYTES - 1)) =
			0;
		CHECK_INT(sum_of(r).blocks, blocks - 1);
		CHECK_INT(w ? read_live_copy_update(f, r, w) : -1, 0);
		CHECK_INT(sum_of(read_live_copy_segment(f)).blocks, blocks);
	}
	read_live_changes_free(w);
	read_live_copy_free(f);
	read_close(r);
}

/* Each of two viewers would take for unchanged the parts that were reported to the other. */
TEST(one_viewer_at_once)
{
	struct read_segment *r = open_made(), *other = open_made();
	struct read_live_changes *w = read_live_changes_new(r);

	CHECK(w != NULL);
	CHECK(read_live_changes_new(other) == NULL);
	read_live_changes_free(w);
	w = read_live_changes_new(other);
	CHECK(w != NULL);
	read_live_changes_free(w);
	read_close(other);
	read_close(r);
}

int main(void)
{
	made_open_as(&made, SEGMENT_FULL, &fixture_identity);
	owners_make(&made.s);
	RUN(what_changed_is_told);
	RUN(over_the_edge_of_a_page);
	RUN(nothing_else_is_copied);
	RUN(one_viewer_at_once);
	made_close(&made);
	return check_end();
}
