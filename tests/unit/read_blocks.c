/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the live table of a segment: every block comes out as it went in, from every place. */
#include <sys/stat.h>
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

static struct made made;

struct found {
	uint64_t blocks, bytes[MADE_SITES];
};

static void find(void *ctx, const struct read_block *b)
{
	struct found *f = ctx;
	uint32_t i = (uint32_t)(b->tick);

	f->blocks++;
	CHECK(b->site >= 1 && b->site < MADE_SITES);
	CHECK_INT(b->addr, made_address(b->site, i));
	CHECK_INT(b->size, made_size(b->site, i));
	CHECK_INT(b->slot, 1);
	f->bytes[b->site % MADE_SITES] += b->size;
}

TEST(blocks)
{
	struct read_segment *r = made_read(&made);
	struct live_block hidden = { .size = 5, .counter = HT_COUNTER_HIDDEN },
			  old[LIVE_MISSED_MAX];
	struct found f = { 0 };

	CHECK_INT(live_insert(&made.s, 0x1230, &hidden, old), 0);
	CHECK_INT(read_blocks(r, find, &f), 3 * MADE_BLOCKS / 2);
	CHECK_INT(f.blocks, 3 * MADE_BLOCKS / 2);
	for (uint32_t i = 1; i < MADE_SITES; i++)
		CHECK_INT(f.bytes[i], made_live_bytes(i));
	CHECK(live_remove(&made.s, 0x1230, &old[0]));
	read_close(r);
}

/* Blocks of all kinds, by address; what reading finds is marked. */
#define KINDS 4000u
static struct kind {
	uint64_t addr, size;
	bool found;
} kinds[KINDS];

/* Counter i is that of site i, by whichever slot. */
static void kinds_owners_make(const struct segment *s)
{
	uint64_t at = segment_element(s, HT_REGION_OWNERS, 0, sizeof(uint64_t));
	uint64_t *owner = segment_at(s, at);

	CHECK_INT(commit_range(s, at, KINDS * sizeof(*owner)), 0);
	for (uint32_t i = 0; i < KINDS; i++)
		owner[i] = ht_owner(i, i % HT_SLOTS_MAX);
	s->header->counters = KINDS;
}

static void kinds_make(const struct segment *s)
{
	static const uint64_t sizes[] = { 0, 8, 9, 16, 24, 25, 40, 56, 57, 64, 126, 127, 128, 1000,
		4096, 1000000 };
	uint64_t at = 0x7f5540000000ull - 100000; /* shortly before the end of a piece */

	kinds_owners_make(s);
	for (uint32_t i = 0; i < KINDS; i++) {
		struct live_block b = { .size = sizes[i * 7 % 16],
			.tick = i * 40000ull,
			.counter = i },
				  old[LIVE_MISSED_MAX];

		kinds[i] = (struct kind){ at, b.size, false };
		at += (b.size + 7) / 8 * 8 + (b.size == 0 ? 8 : 0);
		CHECK_INT(live_insert(s, kinds[i].addr, &b, old), 0);
	}
}

static void find_kind(void *ctx, const struct read_block *b)
{
	struct kind *k = &kinds[b->site % KINDS];

	CHECK(!k->found);
	k->found = true;
	CHECK_INT(b->addr, k->addr);
	CHECK_INT(b->size, k->size);
	CHECK_INT(b->slot, b->site % HT_SLOTS_MAX);
	CHECK_INT(b->tick, live_tick(live_birth(b->site * 40000ull)));
}

/* In every place that a live table has; with nothing allocated by looking. */
TEST(blocks_of_all_kinds)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r;
	struct made full;
	uint64_t before;

	made_open_as(&full, SEGMENT_FULL, &fixture_identity);
	kinds_make(&full.s);
	CHECK(full.s.header->live_levels > 0);
	r = read_open(full.path, message);
	CHECK(r != NULL);
	if (r) {
		before = read_memory_bytes(r);
		CHECK_INT(read_blocks(r, find_kind, NULL), KINDS);
		CHECK_INT(read_memory_bytes(r), before);
	}
	read_close(r);
	made_close(&full);
}

struct stay {
	struct read_segment *segment;
	struct segment *s;
	uint64_t stayed, gone;
};

/* Removes each block once it was visited, and inserts it again with a later time. */
static void stay_look(void *ctx, const struct read_block *b)
{
	struct stay *stay = ctx;
	struct live_block was, later, old[LIVE_MISSED_MAX];

	stay->stayed += read_block_is_unchanged(stay->segment, b);
	CHECK(live_remove(stay->s, b->addr, &was));
	stay->gone += !read_block_is_unchanged(stay->segment, b);
	later = was;
	later.tick = was.tick + (1u << 20);
	CHECK_INT(live_insert(stay->s, b->addr, &later, old), 0);
	stay->gone += !read_block_is_unchanged(stay->segment, b);
	CHECK(live_remove(stay->s, b->addr, &was));
}

TEST(a_block_stays_until_it_is_freed)
{
	char message[READ_MESSAGE_MAX];
	struct made full;
	struct stay stay = { .s = &full.s };
	ssize_t blocks;

	made_open_as(&full, SEGMENT_FULL, &fixture_identity);
	kinds_make(&full.s);
	CHECK(full.s.header->live_levels > 0);
	stay.segment = read_open(full.path, message);
	CHECK(stay.segment != NULL);
	if (stay.segment) {
		blocks = read_blocks(stay.segment, stay_look, &stay);
		CHECK(blocks > 0);
		CHECK_INT(stay.stayed, blocks);
		CHECK_INT(stay.gone, 2 * blocks);
	}
	read_close(stay.segment);
	made_close(&full);
}

/* A block whose slot is claimed and not written yet is none. */
TEST(blocks_half_done)
{
	struct read_segment *r = made_read(&made);
	struct found f = { 0 };
	struct ht_bucket *b = segment_at(&made.s, segment_level_offset(made.s.header, 0));
	uint64_t *key = NULL;

	commit_range(&made.s, segment_level_offset(made.s.header, 0), 1);
	for (unsigned i = 0; i < HT_BUCKET_SLOTS; i++)
		if (b->key[i] == HT_KEY_FREE)
			key = &b->key[i];
	CHECK(key != NULL);
	if (key) {
		*key = HT_KEY_CLAIMED;
		CHECK_INT(read_blocks(r, find, &f), 3 * MADE_BLOCKS / 2);
		*key = HT_KEY_FREE;
	}
	read_close(r);
}

static void pass(void *ctx, uint32_t thread, const struct ht_event *e)
{
}

/* Reading takes no memory: the file's holes stay holes. */
TEST(reading_fills_no_holes)
{
	struct read_segment *r = made_read(&made);
	uint64_t before = read_memory_bytes(r), lost = 0;
	struct read_site sites[MADE_SITES];
	struct read_frame frames[8];
	struct read_totals t;
	struct found f = { 0 };
	uint32_t function;

	CHECK(before > 0 && before < made.s.bytes);
	CHECK_INT(read_totals(r, &t), 0);
	read_sites(r, 0, sites, MADE_SITES);
	read_stack(r, sites[1].node, frames, 8, &function);
	read_events(r, pass, NULL, &lost);
	read_blocks(r, find, &f);
	CHECK_INT(read_memory_bytes(r), before);
	read_close(r);
}

int main(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
	RUN(blocks);
	RUN(blocks_of_all_kinds);
	RUN(a_block_stays_until_it_is_freed);
	RUN(blocks_half_done);
	RUN(reading_fills_no_holes);
	made_close(&made);
	return check_end();
}
