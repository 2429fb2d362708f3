/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/leak: what several snapshots of a program at work say together, in invented memories. */
#include <stdlib.h>

#include "src/leak/analysis/classes.h"
#include "src/leak/analysis/lost_blocks.h"
#include "tests/check.h"

#define HEAP  0x10000000ull
#define WORDS 512

/* One snapshot: words from HEAP on, blocks in the table, and such as were seen another time. */
static struct {
	uint64_t word[WORDS];
	struct leak_blocks blocks, unsure;
	struct leak_graph graph;
} shot;

static void begin(void)
{
	leak_graph_free(&shot.graph);
	leak_blocks_free(&shot.blocks);
	leak_blocks_free(&shot.unsure);
	memset(&shot, 0, sizeof(shot));
}

static void listed(uint64_t offset, uint64_t size, uint32_t birth)
{
	struct leak_block b = { HEAP + offset, size, 1, birth };

	CHECK_INT(leak_blocks_add(&shot.blocks, &b), 0);
}

static void seen(uint64_t offset, uint64_t size)
{
	struct leak_block b = { HEAP + offset, size, 1, 5 };

	CHECK_INT(leak_blocks_add(&shot.unsure, &b), 0);
}

static void points(uint64_t offset, uint64_t to)
{
	shot.word[offset / 8] = HEAP + to;
}

/* `root`: an offset that a root points to. */
static void classify(uint64_t root)
{
	struct leak_store store = { 0 };
	struct leak_part part;
	uint64_t word = HEAP + root;

	CHECK_INT(leak_blocks_fill(&shot.blocks, &shot.unsure), 0);
	CHECK_INT(leak_blocks_finish(&shot.blocks), 0);
	CHECK_INT(leak_graph_start(&shot.graph, &shot.blocks), 0);
	leak_graph_root(&shot.graph, 0x1000, &word, 1, false);
	leak_graph_part(&part, &store, 0);
	for (uint32_t i = 0; i < shot.blocks.count; i++)
		leak_graph_scan(&shot.graph, &part, i,
			&shot.word[(shot.blocks.block[i].addr - HEAP) / 8],
			shot.blocks.block[i].size / 8);
	leak_graph_join(&shot.graph, &part, 1, &store, 1);
	CHECK_INT(leak_classes_assign(&shot.graph), 0);
}

/* The class of the block there; -1: there is none. */
static int class_at(uint64_t offset)
{
	uint32_t i = leak_blocks_from(&shot.blocks, HEAP + offset);

	return i < shot.blocks.count && shot.blocks.block[i].addr == HEAP + offset
		       ? (int)shot.graph.class[i]
		       : -1;
}

/* Whether a lost block at 64 in `second` is taken for the one in `first`. */
static bool is_kept(struct leak_block first, struct leak_block second)
{
	struct leak_lost_blocks lost;
	size_t left;

	begin();
	CHECK_INT(leak_blocks_add(&shot.blocks, &first), 0);
	classify(0);
	CHECK_INT(leak_lost_blocks_collect(&lost, &shot.graph), 0);
	CHECK_INT(lost.count, 1);
	begin();
	CHECK_INT(leak_blocks_add(&shot.blocks, &second), 0);
	classify(0);
	CHECK_INT(leak_lost_blocks_intersect(&lost, &shot.graph), lost.count == 0);
	left = lost.count;
	CHECK_INT(leak_lost_blocks_apply(&lost, &shot.graph), left == 0);
	leak_lost_blocks_free(&lost);
	return left == 1;
}

TEST(another_block_of_the_same_address_is_another)
{
	const struct leak_block b = { HEAP + 64, 16, 1, 1000 };
	struct leak_block other = b;

	CHECK(is_kept(b, b));
	other.birth++;
	CHECK(!is_kept(b, other));
	other = b;
	other.site++;
	CHECK(!is_kept(b, other));
	other = b;
	other.addr += 16;
	CHECK(!is_kept(b, other));
}

/* An array that is moved all the time, and the one block that it holds: lost in each of these
 * snapshots if one goes by the table alone. */
TEST(what_was_seen_another_time_holds_blocks)
{
	struct leak_lost_blocks lost;

	begin();
	listed(512, 16, 1);
	points(64, 512);
	classify(64);
	CHECK_INT(class_at(512), LEAK_DEFINITE);
	CHECK_INT(leak_lost_blocks_collect(&lost, &shot.graph), 0);
	begin();
	listed(512, 16, 1);
	seen(64, 32);
	points(64, 512);
	classify(64);
	CHECK_INT(class_at(512), LEAK_REACHABLE);
	CHECK_INT(leak_lost_blocks_intersect(&lost, &shot.graph), 1);
	CHECK_INT(lost.count, 0);
	leak_lost_blocks_free(&lost);
}

/* It was larger another time, and may be when the memory was copied. */
TEST(the_longer_end_counts)
{
	begin();
	listed(64, 32, 1);
	listed(512, 16, 1);
	seen(64, 16);
	seen(64, 64);
	seen(64, 24);
	points(64 + 56, 512);
	classify(64);
	CHECK_INT(class_at(512), LEAK_REACHABLE);
	CHECK_INT(shot.blocks.block[0].birth, 1);
}

/* Nothing points to what was seen there: then a block that it seems to hold is lost by itself. */
TEST(what_was_seen_is_not_lost_itself)
{
	struct leak_lost_blocks lost;

	begin();
	listed(512, 16, 1);
	seen(64, 32);
	points(64, 512);
	classify(0);
	CHECK_INT(class_at(512), LEAK_INDIRECT);
	CHECK_INT(leak_lost_blocks_collect(&lost, &shot.graph), 0);
	CHECK_INT(lost.count, 1);
	CHECK_INT(leak_lost_blocks_intersect(&lost, &shot.graph), 0);
	CHECK(leak_lost_blocks_apply(&lost, &shot.graph));
	CHECK_INT(leak_classes_assign(&shot.graph), 0);
	CHECK_INT(class_at(512), LEAK_DEFINITE);
	CHECK_INT(class_at(64), LEAK_REACHABLE);
	leak_lost_blocks_free(&lost);
}

/* A pointer inside it is enough: it may not be the block that was seen. */
TEST(what_may_be_reached_holds_blocks)
{
	struct leak_lost_blocks lost = { 0 };

	begin();
	listed(512, 16, 1);
	seen(64, 32);
	points(64, 512);
	classify(64 + 8);
	CHECK_INT(class_at(512), LEAK_POSSIBLE);
	CHECK(leak_lost_blocks_apply(&lost, &shot.graph));
	CHECK_INT(leak_classes_assign(&shot.graph), 0);
	CHECK_INT(class_at(512), LEAK_REACHABLE);
}

TEST(blocks_of_the_table_come_first)
{
	begin();
	listed(64, 32, 1);
	listed(64, 48, 2); /* the later one */
	listed(512, 16, 1);
	seen(64 + 8, 24); /* inside */
	seen(400, 200); /* ends there */
	classify(0);
	CHECK_INT(shot.blocks.count, 3);
	CHECK_INT(shot.blocks.block[0].size, 48);
	CHECK_INT(shot.blocks.block[0].birth, 2);
	CHECK_INT(shot.blocks.block[1].size, 512 - 400);
	CHECK_INT(shot.blocks.block[1].birth, LEAK_BIRTH_UNSURE);
	CHECK_INT(shot.blocks.block[2].birth, 1);
}

TEST(filled_blocks_are_in_order_and_do_not_overlap)
{
	srandom(1);
	for (int round = 0; round < 500; round++) {
		const struct leak_block *b;

		begin();
		for (long i = random() % 40; i > 0; i--)
			listed((uint64_t)random() % 256 * 8, (uint64_t)random() % 100, 1);
		for (long i = random() % 40; i > 0; i--)
			seen((uint64_t)random() % 256 * 8, (uint64_t)random() % 100);
		CHECK_INT(leak_blocks_fill(&shot.blocks, &shot.unsure), 0);
		b = shot.blocks.block;
		for (uint32_t i = 1; i < shot.blocks.count; i++)
			CHECK(b[i - 1].addr < b[i].addr &&
				b[i - 1].addr + b[i - 1].size <= b[i].addr);
	}
}

int main(void)
{
	RUN(another_block_of_the_same_address_is_another);
	RUN(what_was_seen_another_time_holds_blocks);
	RUN(the_longer_end_counts);
	RUN(what_was_seen_is_not_lost_itself);
	RUN(what_may_be_reached_holds_blocks);
	RUN(blocks_of_the_table_come_first);
	RUN(filled_blocks_are_in_order_and_do_not_overlap);
	begin();
	return check_end();
}
