/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of the live table by one thread, where it is not as usual: frees that were missed, large
 * blocks and memory, pieces that collide or run out.
 */
#include "tests/unit/live_fixture.h"

#include <sys/stat.h>

/* ---- frees that were missed ---- */

/* The second block retires the first, which is reported as it was. */
static void check_missed(
	bool glibc, uint64_t first, uint64_t first_size, uint64_t second, uint64_t second_size)
{
	struct live_block want = block(first, first_size), old[LIVE_MISSED_MAX];
	struct fixture f;

	open_full(&f, glibc);
	CHECK_INT(put(&f.s, first, first_size), 0);
	CHECK_INT(put_told(&f.s, second, second_size, old), 1);
	CHECK(same(&old[0], &want));
	CHECK_INT(blocks_in(&f.s), 1);
	CHECK(take(&f.s, second, second_size));
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

TEST(missed_same_address)
{
	for (uint64_t at = BASE + 4096; at < BASE + 4096 + 64; at += 8)
		for (unsigned i = 0; i < EDGES; i++) {
			check_missed(false, at, edge_sizes[i], at, edge_sizes[i]);
			if (at % 16 == 0)
				check_missed(true, at, edge_sizes[i], at, edge_sizes[i]);
		}
}

/* A small block that comes where a larger one was, or the other way round: a removal takes the
 * newer, and the older one ends when its entry is needed. */
TEST(missed_other_size)
{
	uint64_t bad = 0;

	for (uint64_t at = BASE + 4096; at < BASE + 4096 + 64; at += 16)
		for (unsigned i = 0; i < EDGES; i++)
			for (unsigned k = 0; k < EDGES; k++) {
				struct fixture f;

				open_full(&f, true);
				put(&f.s, BASE, 64); /* memory for the first table */
				put(&f.s, at, edge_sizes[i]);
				put(&f.s, at, edge_sizes[k]);
				bad += !is_there(&f.s, at, edge_sizes[k]);
				bad += !take(&f.s, at, edge_sizes[k]);
				put(&f.s, at, edge_sizes[i]);
				bad += !take(&f.s, at, edge_sizes[i]);
				bad += blocks_in(&f.s) != 1;
				fixture_close(&f);
			}
	CHECK_INT(bad, 0);
}

/* The entry that a stale block has its size in goes to another block. */
TEST(missed_extension)
{
	check_missed(true, BASE + 0x1000, 1000, BASE + 0x1040, 48);
	check_missed(true, BASE + 0x1000, 1000, BASE + 0x1040, 500);
	check_missed(true, BASE + 0x1040, 48, BASE + 0x1000, 1000);
	/* ... across pages, groups, and at the end of a piece */
	check_missed(true, BASE + HT_PAGE_SPAN - 64, 1000, BASE + HT_PAGE_SPAN, 48);
	check_missed(true, BASE + HT_PAGE_SPAN * HT_GROUP_PAGES - 64, 1000,
		BASE + HT_PAGE_SPAN * HT_GROUP_PAGES, 48);
	check_missed(true, BASE + HT_PIECE_BYTES - 112, 1000, BASE + HT_PIECE_BYTES - 48, 48);
}

/* One insertion can show several. */
TEST(missed_many)
{
	struct live_block old[LIVE_MISSED_MAX];
	struct fixture f;

	open_full(&f, true);
	put(&f.s, BASE + 0x1000, 1000);
	put(&f.s, BASE + 0x1080, 60);
	CHECK_INT(put_told(&f.s, BASE + 0x1040, 1000, old), 2);
	CHECK_INT(old[0].size, 1000);
	CHECK_INT(old[1].size, 60);
	CHECK_INT(blocks_in(&f.s), 1);
	fixture_close(&f);
}

/* ---- large blocks, and memory ---- */

static uint64_t file_memory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Where there is no memory for them, they take none; where there is, they are direct. */
TEST(large_blocks)
{
	struct fixture f;
	uint64_t before;

	open_full(&f, true);
	before = file_memory(f.fd);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_INT(put(&f.s, BASE + i * 1000000, 900000), 0);
	CHECK_INT(in_levels(&f.s), 100);
	CHECK(file_memory(f.fd) - before < 8 * HT_COMMIT_BYTES);
	CHECK_INT(put(&f.s, BASE + 999000, 20), 0);
	CHECK_INT(live_direct_count(&f.s), 1);
	/* It has their memory now. */
	CHECK(take(&f.s, BASE + 1000000, 900000));
	CHECK_INT(put(&f.s, BASE + 1000000, 900000), 0);
	CHECK_INT(live_direct_count(&f.s), 2);
	fixture_close(&f);
}

/* A block of the overflow whose free was missed, where a small one comes. */
TEST(large_block_missed)
{
	struct live_block old[LIVE_MISSED_MAX];
	struct fixture f;

	open_full(&f, true);
	put(&f.s, BASE + 0x5000, 100000);
	put(&f.s, BASE + 0x4000, 20);
	CHECK_INT(in_levels(&f.s), 1);
	CHECK_INT(put_told(&f.s, BASE + 0x5000, 20, old), 1);
	CHECK_INT(old[0].size, 100000);
	CHECK_INT(blocks_in(&f.s), 2);
	fixture_close(&f);
}

/* The same where the block had no piece to leave word in, which then came. */
TEST(large_block_missed_unmarked)
{
	struct live_block old[LIVE_MISSED_MAX];
	struct fixture f;

	open_full(&f, true);
	/* Pieces in its place and the next. */
	put(&f.s, BASE + HT_PIECES_MAX * HT_PIECE_BYTES, 20);
	put(&f.s, BASE + (HT_PIECES_MAX + 1) * HT_PIECE_BYTES, 20);
	put(&f.s, BASE + 0x5000, 100000);
	CHECK_INT(f.s.header->live_unmarked, 1);
	CHECK_INT(put_told(&f.s, BASE + 0x5000, 20, old), 1);
	CHECK_INT(old[0].size, 100000);
	put(&f.s, BASE + 0x6000, 20);
	CHECK_INT(blocks_in(&f.s), 4);
	CHECK_INT(in_levels(&f.s), 0);
	fixture_close(&f);
}

static double bytes_a_block(uint64_t size)
{
	const uint64_t n = 200000;
	struct fixture f;
	uint64_t before;
	double result;

	open_full(&f, true);
	before = file_memory(f.fd);
	for (uint64_t i = 0; i < n; i++)
		put(&f.s, BASE + i * pitch(true, size), size);
	CHECK_INT(live_direct_count(&f.s), n);
	result = (double)(file_memory(f.fd) - before) / (double)n;
	fixture_close(&f);
	return result;
}

TEST(memory)
{
	CHECK(bytes_a_block(64) < 11);
	CHECK(bytes_a_block(48) < 9);
	CHECK(bytes_a_block(24) < 9);
	CHECK(bytes_a_block(200) < 28);
}

/* ---- pieces ---- */

/* More of the address space than there are pieces: what has none is in the overflow. */
TEST(more_than_all_pieces)
{
	const uint64_t n = HT_PIECES_MAX + 100;
	struct fixture f;
	uint64_t bad = 0;

	open_full(&f, true);
	for (uint64_t i = 0; i < n; i++)
		bad += put(&f.s, BASE + i * HT_PIECE_BYTES + 64, 64) != 0;
	CHECK_INT(live_direct_count(&f.s), HT_PIECES_MAX);
	CHECK_INT(in_levels(&f.s), 100);
	CHECK_INT(f.s.header->live_unmarked, 1);
	for (uint64_t i = 0; i < n; i++)
		bad += !take(&f.s, BASE + i * HT_PIECE_BYTES + 64, 64);
	CHECK_INT(bad, 0);
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

/* Pieces that want the same place. */
TEST(pieces_collide)
{
	struct fixture f;
	uint64_t bad = 0;

	open_full(&f, true);
	for (uint64_t i = 0; i < 10; i++)
		for (uint64_t at = 0; at < 1000; at++)
			bad += put(&f.s, BASE + i * HT_PIECES_MAX * HT_PIECE_BYTES + at * 32, 20) !=
			       0;
	CHECK_INT(live_direct_count(&f.s), 10000);
	for (uint64_t i = 0; i < 10; i++)
		for (uint64_t at = 0; at < 1000; at++)
			bad += !take(&f.s, BASE + i * HT_PIECES_MAX * HT_PIECE_BYTES + at * 32, 20);
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

/* The program wrote where it should not have: an entry of second[], the last of all, says that its
 * size is in the next one, which is past the end. */
TEST(wild_entry)
{
	uint64_t at = BASE / HT_PIECE_BYTES / HT_PIECES_MAX * HT_PIECES_MAX * HT_PIECE_BYTES +
		      HT_PIECES_MAX * HT_PIECE_BYTES - 48;
	struct live_block got;
	struct fixture f;
	uint64_t *entry;

	open_full(&f, true);
	CHECK_INT(put(&f.s, at, 20), 0);
	entry = live_second(live_pieces_find(&f.s, at, false), at % HT_PIECE_BYTES);
	CHECK((char *)(entry + 1) == (char *)(f.s.pieces + 1));
	*entry |= (uint64_t)HT_ENTRY_SIZE << HT_ENTRY_SIZE_SHIFT;
	CHECK(live_remove(&f.s, at, &got));
	CHECK_INT(got.size, HT_ENTRY_SIZE);
	CHECK_INT(blocks_in(&f.s), 0);
	fixture_close(&f);
}

TEST(whole_address_space)
{
	static const uint64_t places[] = { 16, 4096, 0x400000, BASE, 0x7ffffffff000ull, 1ull << 47,
		1ull << 56, 0xffffffff00000000ull, UINT64_MAX - 63 };
	uint64_t bad = 0;
	struct fixture f;

	open_full(&f, true);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			for (uint64_t size = 0; size < 200; size += 40) {
				bad += put(&f.s, places[i], size) != 0;
				bad += !take(&f.s, places[i], size);
			}
	CHECK_INT(bad, 0);
	CHECK_INT(in_levels(&f.s), 0);
	fixture_close(&f);
}

TEST(no_pieces)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(put(&f.s, BASE, 64), 0);
	CHECK_INT(in_levels(&f.s), 1);
	CHECK(take(&f.s, BASE, 64));
	fixture_close(&f);
}

/* What was put by one mapping is found by another, made later. */
TEST(mapped_again)
{
	struct segment other;
	struct fixture f;

	open_full(&f, true);
	put(&f.s, BASE + HT_PIECE_BYTES - 16, 1000);
	put(&f.s, BASE + 0x1010, 20);
	CHECK_INT(segment_map(&other, f.fd), 0);
	CHECK(is_there(&other, BASE + HT_PIECE_BYTES - 16, 1000));
	CHECK(take(&other, BASE + 0x1010, 20));
	CHECK(!is_there(&f.s, BASE + 0x1010, 20));
	segment_unmap(&other);
	fixture_close(&f);
}

int main(void)
{
	RUN(missed_same_address);
	RUN(missed_other_size);
	RUN(missed_extension);
	RUN(missed_many);
	RUN(large_blocks);
	RUN(large_block_missed);
	RUN(large_block_missed_unmarked);
	RUN(memory);
	RUN(more_than_all_pieces);
	RUN(pieces_collide);
	RUN(wild_entry);
	RUN(whole_address_space);
	RUN(no_pieces);
	RUN(mapped_again);
	return check_end();
}
