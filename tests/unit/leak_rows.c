/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of leaks of which some are suppressed, and what goes with them: in an invented memory. */
#include "src/scan/leak_rows.h"
#include "tests/check.h"

#define HEAP  0x10000000ull
#define WORDS 512

enum { KNOWN = 1, OTHER, BOTH, CHILD, ALIVE }; /* call sites */

static uint64_t word[WORDS];
static struct leak_blocks blocks;
static struct leak_graph graph;
static struct leak_result result;
static struct leak_rows rows;
static struct snap_leaks leaks;
static struct snap_leak_block shown[16];

static void block(uint64_t offset, uint64_t size, uint32_t site)
{
	struct leak_block b = { HEAP + offset, size, site, (uint32_t)offset };

	CHECK_INT(leak_blocks_add(&blocks, &b), 0);
}

static void points(uint64_t offset, uint64_t to)
{
	word[offset / 8] = HEAP + to;
}

static void classify(void)
{
	struct leak_store store = { 0 };
	struct leak_part part;
	uint64_t root = HEAP + 2048;

	CHECK_INT(leak_blocks_finish(&blocks), 0);
	CHECK_INT(leak_graph_start(&graph, &blocks), 0);
	leak_graph_root(&graph, 0x1000, &root, 1, false);
	leak_graph_part(&part, &store, 0);
	for (uint32_t i = 0; i < blocks.count; i++)
		leak_graph_scan(&graph, &part, i, &word[(blocks.block[i].addr - HEAP) / 8],
			blocks.block[i].size / 8);
	leak_graph_join(&graph, &part, 1, &store, 1);
	CHECK_INT(leak_classes_assign(&graph), 0);
}

/* As src/scan/leak_summary.c copies them; births are offsets. */
static void rows_copy(void)
{
	for (size_t i = 0; i < result.block_count; i++)
		shown[i].addr = result.block[i].addr;
	CHECK_INT(leak_rows_make(&rows, &result), 0);
	rows.blocks = shown;
	for (size_t i = 0; i < result.rows; i++) {
		const struct leak_row *r = &result.row[i];

		rows.found[i] = (struct snap_leak_site){
			.class = (enum snap_leak_class)r->class,
			.site = r->site,
			.sum = { r->sum.blocks, r->sum.bytes },
			.indirect = { r->indirect.blocks, r->indirect.bytes },
			.blocks = shown + r->first_block,
			.nblocks = r->blocks,
		};
	}
	leak_rows_show(&rows, &leaks);
}

/*
 * known (64 bytes) leads to two children (16 each), other (48) to one; `both`, which is lost, too,
 * to the first child of the known one. A block of the child's is alive.
 */
static void make(void)
{
	static const atomic_bool never;
	const struct leak_result_parts parts = {
		.why = true, .lost = true, .holders = true, .stop = &never
	};
	static const struct leak_space space;
	const struct leak_root_context found = { .graph = &graph, .space = &space };

	memset(word, 0, sizeof(word));
	block(0, 64, KNOWN);
	block(256, 48, OTHER);
	block(512, 32, BOTH);
	for (uint64_t i = 0; i < 3; i++)
		block(1024 + 16 * i, 16, CHILD);
	block(2048, 8, CHILD);
	points(0, 1024);
	points(16, 1040);
	points(256, 1056);
	points(512, 1024);
	classify();
	CHECK_INT(leak_result_make(&result, &found, &parts), 0);
	rows_copy();
}

static void end(void)
{
	leak_rows_free(&rows);
	leak_result_free(&result);
	leak_graph_free(&graph);
	leak_blocks_free(&blocks);
	memset(&result, 0, sizeof(result));
	memset(&leaks, 0, sizeof(leaks));
}

static void suppress(uint32_t site, enum snap_leak_class class, enum suppressions_how how)
{
	for (size_t i = 0; i < rows.count; i++)
		if (rows.found[i].site == site && rows.found[i].class == class)
			rows.how[i] = how;
	leak_rows_show(&rows, &leaks);
}

static const struct snap_leak_site *row(uint32_t site, enum snap_leak_class class, bool suppressed)
{
	for (size_t i = 0; i < leaks.nsites; i++)
		if (leaks.sites[i].site == site && leaks.sites[i].class == class &&
			leaks.sites[i].suppressed == suppressed)
			return &leaks.sites[i];
	return NULL;
}

#define CHECK_SUM(sum_, blocks_, bytes_)                                                           \
	do {                                                                                       \
		CHECK_INT((sum_).blocks, blocks_);                                                 \
		CHECK_INT((sum_).bytes, bytes_);                                                   \
	} while (0)

TEST(nothing_is_suppressed)
{
	make();
	CHECK_INT(leaks.nsites, 5);
	CHECK_SUM(leaks.sum[SNAP_LEAK_DEFINITE], 3, 144);
	CHECK_SUM(leaks.sum[SNAP_LEAK_INDIRECT], 3, 48);
	CHECK_SUM(leaks.suppressed, 0, 0);
	end();
}

TEST(one_alone_leaves_what_is_behind_it)
{
	make();
	suppress(KNOWN, SNAP_LEAK_DEFINITE, SUPPRESSIONS_MATCH);
	CHECK_SUM(leaks.sum[SNAP_LEAK_DEFINITE], 2, 80);
	CHECK_SUM(leaks.sum[SNAP_LEAK_INDIRECT], 3, 48);
	CHECK_SUM(leaks.suppressed, 1, 64);
	CHECK(row(KNOWN, SNAP_LEAK_DEFINITE, true) && !row(KNOWN, SNAP_LEAK_DEFINITE, false));
	CHECK_INT(leaks.nsites, 5);
	end();
}

/* And what another leak leads to as well; a row of which a part is left is two. */
TEST(one_with_what_is_behind_it)
{
	make();
	suppress(KNOWN, SNAP_LEAK_DEFINITE, SUPPRESSIONS_WITH_INDIRECT);
	CHECK_SUM(leaks.sum[SNAP_LEAK_DEFINITE], 2, 80);
	CHECK_SUM(leaks.sum[SNAP_LEAK_INDIRECT], 1, 16);
	CHECK_SUM(leaks.sum[SNAP_LEAK_REACHABLE], 1, 8);
	CHECK_SUM(leaks.suppressed, 3, 96);
	CHECK_INT(leaks.nsites, 6);
	CHECK_SUM(row(CHILD, SNAP_LEAK_INDIRECT, false)->sum, 1, 16);
	CHECK_SUM(row(CHILD, SNAP_LEAK_INDIRECT, true)->sum, 2, 32);
	CHECK_SUM(row(OTHER, SNAP_LEAK_DEFINITE, false)->indirect, 1, 16);
	CHECK_SUM(row(BOTH, SNAP_LEAK_DEFINITE, false)->indirect, 0, 0);
	CHECK(row(CHILD, SNAP_LEAK_REACHABLE, false) != NULL);
	/* One that leads to a block goes without the one that leads that one's clique. */
	end();
	make();
	suppress(BOTH, SNAP_LEAK_DEFINITE, SUPPRESSIONS_WITH_INDIRECT);
	CHECK_SUM(leaks.suppressed, 2, 48);
	CHECK_SUM(row(KNOWN, SNAP_LEAK_DEFINITE, false)->indirect, 1, 16);
	end();
}

TEST(a_second_rule_takes_the_rest)
{
	make();
	suppress(KNOWN, SNAP_LEAK_DEFINITE, SUPPRESSIONS_WITH_INDIRECT);
	suppress(CHILD, SNAP_LEAK_INDIRECT, SUPPRESSIONS_MATCH);
	CHECK_SUM(leaks.sum[SNAP_LEAK_INDIRECT], 0, 0);
	CHECK_SUM(leaks.suppressed, 4, 112);
	CHECK_INT(leaks.nsites, 5);
	end();
}

/* The blocks that are shown of a row go where they are counted, and its growth stays its own. */
TEST(a_row_that_is_cut)
{
	struct snap_leak_site *child = NULL;
	const struct snap_leak_site *stays, *goes;

	make();
	for (size_t i = 0; i < rows.count; i++)
		if (rows.found[i].site == CHILD && rows.found[i].class == SNAP_LEAK_INDIRECT)
			child = &rows.found[i];
	CHECK_INT(child->nblocks, 3);
	child->before = (struct snap_leak_sum){ 2, 32 };
	suppress(BOTH, SNAP_LEAK_DEFINITE, SUPPRESSIONS_WITH_INDIRECT);
	stays = row(CHILD, SNAP_LEAK_INDIRECT, false);
	goes = row(CHILD, SNAP_LEAK_INDIRECT, true);
	CHECK_INT(stays->nblocks, 2);
	CHECK_INT(goes->nblocks, 1);
	CHECK(stays->blocks[0].addr == HEAP + 1040 && stays->blocks[1].addr == HEAP + 1056);
	CHECK_INT(goes->blocks[0].addr, HEAP + 1024);
	CHECK_SUM(stays->before, 1, 16);
	CHECK_SUM(goes->before, 1, 16);
	suppress(OTHER, SNAP_LEAK_DEFINITE, SUPPRESSIONS_WITH_INDIRECT);
	stays = row(CHILD, SNAP_LEAK_INDIRECT, false);
	CHECK_INT(stays->nblocks, 1);
	CHECK_INT(stays->blocks[0].addr, HEAP + 1040);
	end();
}

int main(void)
{
	RUN(nothing_is_suppressed);
	RUN(one_alone_leaves_what_is_behind_it);
	RUN(one_with_what_is_behind_it);
	RUN(a_second_rule_takes_the_rest);
	RUN(a_row_that_is_cut);
	return check_end();
}
