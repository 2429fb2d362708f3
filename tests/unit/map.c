/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The map of a memory: areas, what is on their pages, who keeps them, and that the parts are RSS.
 */
#include <stdlib.h>
#include "src/model/map.h"
#include "tests/check.h"

#define PAGE 4096ull
#define BRK  0x10000000ull
#define ANON 0x7f0000000000ull

static struct map *make(struct map_input *in, void (*pages)(struct map *m))
{
	struct map *m = map_new(in);

	CHECK(m != NULL);
	for (size_t i = 0; i < m->pages; i++)
		m->page[i].flags = MAP_PAGE_PRESENT;
	if (pages)
		pages(m);
	CHECK_INT(map_count(m, in), 0);
	return m;
}

static void check_sum(const struct map *m)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < MAP_PARTS; i++)
		sum += m->account.part[i];
	CHECK_INT(sum, m->account.rss_bytes);
}

static const struct map_row *row_of(const struct map *m, enum map_kind kind)
{
	for (size_t i = 0; i < m->rows; i++)
		if (m->row[i].kind == kind)
			return &m->row[i];
	return NULL;
}

static const struct map_vma heap = { BRK, BRK + 8 * PAGE, MAP_BRK, false, 8 * PAGE, 0 };

/* A block of 24 bytes takes 32 with its head, one of 25 takes 48. */
TEST(chunks_take_what_glibc_gives_them)
{
	static const struct map_block block[] = { { BRK + 4096 + 16, 24, 1 },
		{ BRK + 4096 + 48, 25, 2 }, { BRK + 4096 + 96, 0, 3 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 3, .glibc = true
	};
	struct map *m = make(&in, NULL);

	CHECK_INT(m->account.part[MAP_PART_LIVE], 49);
	CHECK_INT(m->account.part[MAP_PART_SLACK], 8 + 23 + 32);
	CHECK_INT(m->account.part[MAP_PART_FREE], 8 * PAGE - 112);
	CHECK_INT(m->page[1].owned, 112);
	CHECK_INT(m->page[1].blocks, 3);
	CHECK_INT(m->page[1].site, 2);
	CHECK_INT(m->class[1].blocks, 0);
	CHECK_INT(m->class[2].blocks, 2); /* up to 32 */
	CHECK_INT(m->class[0].blocks, 1);
	check_sum(m);
	map_unref(m);
	in.glibc = false;
	m = make(&in, NULL);
	CHECK_INT(m->account.part[MAP_PART_SLACK], 1); /* nothing is known but that it is there */
	check_sum(m);
	map_unref(m);
}

static void second_absent(struct map *m)
{
	m->page[1].flags = 0;
	m->page[2].flags = MAP_PAGE_SWAPPED;
}

/* Over four pages, of which one is not there and one is in swap. */
TEST(a_block_counts_as_far_as_it_is_in_memory)
{
	static const struct map_block block[] = { { BRK + 2048, 3 * PAGE, 1 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 1, .glibc = true
	};
	struct map *m = make(&in, second_absent);

	CHECK_INT(m->account.part[MAP_PART_LIVE], PAGE);
	CHECK_INT(m->account.live_bytes, 3 * PAGE);
	CHECK_INT(m->account.rss_bytes, 6 * PAGE);
	CHECK_INT(m->account.swap_bytes, PAGE);
	CHECK_INT(m->page[1].owned, PAGE);
	check_sum(m);
	map_unref(m);
}

/* Three pages with a block each of one site, one page with blocks of two, one that is full. */
TEST(who_pins)
{
	static const struct map_block block[] = { { BRK + 16, 40, 7 }, { BRK + PAGE + 16, 40, 7 },
		{ BRK + 2 * PAGE + 16, 40, 7 }, { BRK + 3 * PAGE + 16, 40, 7 },
		{ BRK + 3 * PAGE + 512, 136, 9 }, { BRK + 5 * PAGE + 8, PAGE - 8, 4 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 6, .glibc = true
	};
	struct map *m = make(&in, NULL);
	const struct map_account *a = &m->account;
	uint64_t shared = PAGE - 48 - 144;

	CHECK_INT(a->pinned_pages, 4);
	CHECK_INT(a->pinned_bytes, 3 * (PAGE - 48) + shared);
	CHECK_INT(a->pins, 2);
	CHECK_INT(a->pin[0].site, 7);
	CHECK_INT(a->pin[0].pages, 4);
	CHECK_INT(a->pin[0].alone, 3);
	CHECK_INT(a->pin[0].live_bytes, 4 * 48);
	CHECK_INT(a->pin[0].cost_bytes, 3 * (PAGE - 48) + shared * 48 / 192);
	CHECK_INT(a->pin[1].site, 9);
	CHECK_INT(a->pin[1].cost_bytes, shared * 144 / 192);
	CHECK_INT(m->class[3].cost_bytes, a->pin[0].cost_bytes);
	CHECK_INT(m->class[5].cost_bytes, a->pin[1].cost_bytes);
	CHECK_INT(m->page[3].site, 9);
	map_unref(m);
}

/* Pages that are not there cost nothing, and are kept by nobody. */
TEST(what_is_not_there_is_not_pinned)
{
	static const struct map_block block[] = { { BRK + PAGE + 16, 40, 7 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 1, .glibc = true
	};
	struct map *m = make(&in, second_absent);

	CHECK_INT(m->account.pinned_pages, 0);
	CHECK_INT(m->account.pins, 0);
	map_unref(m);
}

static void third_absent(struct map *m)
{
	m->page[3].flags = 0;
}

/* Blocks at both ends of page 1 and on page 6: between them pages 3 to 5 are free, and 7 behind
 * them. On page 2 is the head of the free chunk. */
TEST(trim_gives_back_whole_free_pages)
{
	static const struct map_block block[] = { { BRK + PAGE + 16, 40, 1 },
		{ BRK + 2 * PAGE - 64, 40, 1 }, { BRK + 6 * PAGE + 512, 40, 1 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 3, .glibc = true
	};
	struct map *m = make(&in, NULL);

	CHECK_INT(m->account.trim_bytes, 4 * PAGE);
	map_unref(m);
	m = make(&in, third_absent);
	CHECK_INT(m->account.trim_bytes, 3 * PAGE);
	map_unref(m);
	in.glibc = false;
	m = make(&in, NULL);
	CHECK_INT(m->account.trim_bytes, 0);
	map_unref(m);
}

/* One mapping that the kernel has made of three, with nothing of malloc's at its end. */
TEST(blocks_with_mappings_of_their_own_are_cut_out)
{
	static const struct map_vma vma[] = { { ANON, ANON + 1000 * PAGE, MAP_OTHER, true,
						      1000 * PAGE, 0 },
		{ ANON + 2000 * PAGE, ANON + 2010 * PAGE, MAP_FILE, false, 7 * PAGE, 0 } };
	static const struct map_block block[] = { { ANON + 10 * PAGE + 16, 50 * PAGE, 1 },
		{ ANON + 61 * PAGE + 16, 39 * PAGE - 16, 2 } };
	struct map_input in = { .vma = vma, .vmas = 2, .block = block, .blocks = 2, .glibc = true };
	struct map *m = make(&in, NULL);
	const struct map_row *row = row_of(m, MAP_CHUNKS);

	CHECK(row != NULL);
	CHECK_INT(row->size_bytes, (51 + 39) * PAGE);
	CHECK_INT(row->blocks, 2);
	CHECK_INT(m->account.part[MAP_PART_MAPPED], 89 * PAGE - 16);
	CHECK_INT(m->account.part[MAP_PART_SLACK], PAGE + 16);
	CHECK_INT(m->account.part[MAP_PART_LIVE], 0);
	CHECK_INT(m->account.part[MAP_PART_OTHER], 910 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_FILES], 7 * PAGE);
	CHECK_INT(m->account.rss_bytes, 1007 * PAGE);
	CHECK_INT(map_page_address(m, row, 0), ANON + 10 * PAGE);
	CHECK_INT(map_page_at(m, row, ANON + 70 * PAGE), 60);
	CHECK_INT(map_page_at(m, row, ANON + 500 * PAGE), row->pages);
	check_sum(m);
	map_unref(m);
}

/* Small blocks make a mapping the allocator's: glibc's own, or that of one that is not known. */
static void half_shared(struct map *m)
{
	for (size_t i = 0; i < 8; i++)
		m->page[i].flags |= i % 2 ? MAP_PAGE_SHARED : 0;
}

/* Pages that were only read are present, but not resident memory: RSS is right. */
TEST(pages_of_zeros_are_no_memory)
{
	static const struct map_block block[] = { { BRK + 16, 7 * PAGE, 1 } };
	struct map_vma vma = heap;
	struct map_input in = {
		.vma = &vma, .vmas = 1, .block = block, .blocks = 1, .glibc = true
	};

	for (unsigned zeros = 0; zeros <= 5; zeros++) {
		unsigned gone = zeros < 4 ? zeros : 4; /* the others are of this process alone */
		struct map *m;

		vma.rss_bytes = (8 - zeros) * PAGE;
		m = make(&in, half_shared);
		CHECK_INT(m->account.rss_bytes, (8 - gone) * PAGE);
		CHECK_INT(m->page[1].flags & MAP_PAGE_PRESENT, zeros ? 0 : MAP_PAGE_PRESENT);
		check_sum(m);
		map_unref(m);
	}
}

/* Its middle has huge pages, or is otherwise unlike the rest; then comes the program's own. */
TEST(a_block_whose_mapping_was_cut_is_one)
{
	static const struct map_vma vma[] = { { ANON, ANON + PAGE, MAP_OTHER, true, PAGE, 0 },
		{ ANON + PAGE, ANON + 30 * PAGE, MAP_OTHER, true, 29 * PAGE, 0 },
		{ ANON + 30 * PAGE, ANON + 50 * PAGE, MAP_OTHER, true, 20 * PAGE, 0 } };
	static const struct map_block block[] = { { ANON + 16, 40 * PAGE - 16, 1 },
		{ ANON + 41 * PAGE + 16, 9 * PAGE - 16, 2 } };
	struct map_input in = { .vma = vma, .vmas = 3, .block = block, .blocks = 1, .glibc = true };
	struct map *m = make(&in, NULL);

	CHECK_INT(m->account.part[MAP_PART_MAPPED], 40 * PAGE - 16);
	CHECK_INT(m->account.part[MAP_PART_OTHER], 10 * PAGE);
	CHECK_INT(row_of(m, MAP_CHUNKS)->blocks, 1);
	check_sum(m);
	map_unref(m);
	in.blocks = 2;
	m = make(&in, NULL);
	CHECK_INT(m->account.part[MAP_PART_OTHER], PAGE);
	CHECK_INT(row_of(m, MAP_CHUNKS)->blocks, 2);
	map_unref(m);
}

TEST(where_small_blocks_lie_is_the_allocators)
{
	static const struct map_vma vma = { ANON, ANON + 100 * PAGE, MAP_OTHER, true, 100 * PAGE,
		0 };
	static const struct map_block block[] = { { ANON + 3 * PAGE, 64, 1 },
		{ ANON + 50 * PAGE, 40 * PAGE, 2 } };
	struct map_input in = { .vma = &vma, .vmas = 1, .block = block, .blocks = 2 };
	struct map *m = make(&in, NULL);

	CHECK_INT(m->rows, 1);
	CHECK_INT(m->row[0].kind, MAP_POOL);
	CHECK_INT(m->account.part[MAP_PART_LIVE], 40 * PAGE + 64);
	CHECK_INT(m->account.part[MAP_PART_FREE], 60 * PAGE - 64);
	check_sum(m);
	map_unref(m);
}

TEST(arenas_stacks_and_our_own)
{
	static const struct map_vma vma = { ANON, ANON + 100 * PAGE, MAP_OTHER, true, 100 * PAGE,
		0 };
	static const struct map_piece piece[] = {
		{ ANON, ANON + 10 * PAGE, MAP_ARENA, ANON },
		{ ANON + 20 * PAGE, ANON + 30 * PAGE, MAP_STACK, 0 },
		{ ANON + 30 * PAGE, ANON + 35 * PAGE, MAP_OWN, 0 },
		{ ANON + 40 * PAGE, ANON + 200 * PAGE, MAP_ARENA, ANON + 40 * PAGE },
	};
	static const struct map_block block[] = { { ANON + 2 * PAGE + 16, 24, 1 },
		{ ANON + 36 * PAGE + 16, 24, 1 }, { ANON + 50 * PAGE + 16, 24, 1 } };
	struct map_input in = { .vma = &vma,
		.vmas = 1,
		.piece = piece,
		.pieces = 4,
		.block = block,
		.blocks = 3,
		.glibc = true };
	struct map *m = make(&in, NULL);
	char name[48];

	CHECK_STR(map_row_name(&m->row[0], name), "arena 1");
	CHECK_STR(map_row_name(&m->row[1], name), "arena 2");
	CHECK_INT(m->row[0].rss_bytes, 10 * PAGE);
	CHECK_INT(m->row[1].rss_bytes, 60 * PAGE); /* a piece ends with its mapping */
	CHECK_INT(row_of(m, MAP_POOL)->rss_bytes, 5 * PAGE);
	CHECK_INT(row_of(m, MAP_STACK)->rss_bytes, 10 * PAGE);
	CHECK_INT(row_of(m, MAP_OWN)->rss_bytes, 5 * PAGE);
	CHECK_INT(row_of(m, MAP_OTHER)->rss_bytes, 10 * PAGE);
	map_rows_sort(m);
	CHECK_INT(m->row[0].number, 2);
	CHECK_INT(m->row[1].number, 1);
	CHECK_INT(m->row[1].rss_bytes, 10 * PAGE);
	m->row[0].rss_bytes = 15 * PAGE; /* not worth another order */
	map_rows_sort(m);
	CHECK_INT(m->row[0].number, 1);
	/* The end of an arena is not given back; the rest of it is. */
	CHECK_INT(m->account.top_bytes, (7 + 49) * PAGE);
	check_sum(m);
	map_unref(m);
}

static void ten_present(struct map *m)
{
	for (size_t i = 0; i < m->pages; i++)
		m->page[i].flags = i < 10 ? MAP_PAGE_PRESENT : 0;
}

/* A mapping of which the program made the second half, and one that it made whole. */
TEST(what_the_program_mapped_has_its_site)
{
	static const struct map_vma vma[] = { { ANON, ANON + 40 * PAGE, MAP_OTHER, true, 10 * PAGE,
						      0 },
		{ ANON + 50 * PAGE, ANON + 90 * PAGE, MAP_OTHER, true, 7 * PAGE, PAGE },
		{ ANON + 100 * PAGE, ANON + 110 * PAGE, MAP_SHARED, false, 3 * PAGE, 0 } };
	static const struct map_range range[] = { { ANON + 5 * PAGE, ANON + 40 * PAGE, 3 },
		{ ANON + 45 * PAGE, ANON + 95 * PAGE, 8 },
		{ ANON + 100 * PAGE, ANON + 110 * PAGE, 9 } };
	struct map_input in = { .vma = vma, .vmas = 3, .range = range, .ranges = 3, .glibc = true };
	struct map *m = make(&in, ten_present);
	const struct map_account *a = &m->account;

	CHECK_INT(m->rows, 4);
	CHECK_INT(a->part[MAP_PART_PROGRAM] + a->part[MAP_PART_OTHER], 17 * PAGE);
	CHECK_INT(a->part[MAP_PART_SHARED], 3 * PAGE);
	CHECK_INT(a->sites, 3);
	CHECK(a->site[0].site == 3 || a->site[0].site == 8);
	for (unsigned i = 0; i < a->sites; i++)
		if (a->site[i].site == 8)
			CHECK_INT(a->site[i].rss_bytes, 7 * PAGE);
		else if (a->site[i].site == 3)
			CHECK_INT(a->site[i].size_bytes, 35 * PAGE);
		else
			CHECK(a->site[i].shared && a->site[i].rss_bytes == 3 * PAGE);
	CHECK_INT(row_of(m, MAP_OTHER)->size_bytes, 5 * PAGE);
	check_sum(m);
	map_unref(m);
}

/* What one call site mapped in many calls is one mapping of the kernel's, whose pages are not read
 * here. Another site has a part, too. */
TEST(many_ranges_of_one_mapping)
{
	static const struct map_vma vma[] = { { ANON, ANON + 40 * PAGE, MAP_OTHER, true, 30 * PAGE,
						      0 },
		{ ANON + 50 * PAGE, ANON + 90 * PAGE, MAP_OTHER, true, 8 * PAGE, 0 } };
	static const struct map_range range[] = { { ANON, ANON + 9 * PAGE, 3 },
		{ ANON + 9 * PAGE, ANON + 20 * PAGE, 4 }, { ANON + 20 * PAGE, ANON + 29 * PAGE, 3 },
		{ ANON + 50 * PAGE, ANON + 59 * PAGE, 3 },
		{ ANON + 70 * PAGE, ANON + 79 * PAGE, 3 } };
	struct map_input in = {
		.vma = vma, .vmas = 2, .range = range, .ranges = 5, .forked = true
	};
	struct map *m = make(&in, NULL);

	CHECK_INT(m->account.sites, 1);
	CHECK_INT(m->account.site[0].site, 3);
	CHECK_INT(m->account.site[0].rss_bytes, 30 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_PROGRAM], 30 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_OTHER], 8 * PAGE); /* less than half is the program's */
	check_sum(m);
	map_unref(m);
}

/* Stacks and arenas in the program's memory stay what they are, and so does memory with blocks. */
TEST(known_pieces_go_before_ranges)
{
	static const struct map_vma vma = { ANON, ANON + 100 * PAGE, MAP_OTHER, true, 100 * PAGE,
		0 };
	static const struct map_piece piece[] = { { ANON + 20 * PAGE, ANON + 30 * PAGE, MAP_STACK,
		0 } };
	static const struct map_range range[] = { { ANON + 10 * PAGE, ANON + 40 * PAGE, 3 },
		{ ANON + 35 * PAGE, ANON + 45 * PAGE, 4 }, /* of another moment */
		{ ANON + 50 * PAGE, ANON + 60 * PAGE, 5 },
		{ ANON + 70 * PAGE, ANON + 80 * PAGE, 0 } };
	static const struct map_block block[] = { { ANON + 55 * PAGE, 24, 1 } };
	struct map_input in = { .vma = &vma,
		.vmas = 1,
		.piece = piece,
		.pieces = 1,
		.range = range,
		.ranges = 4,
		.block = block,
		.blocks = 1,
		.glibc = true };
	struct map *m = make(&in, NULL);

	CHECK_INT(row_of(m, MAP_STACK)->rss_bytes, 10 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_PROGRAM], 25 * PAGE);
	CHECK_INT(m->account.site[0].site, 3);
	CHECK_INT(m->account.site[0].rss_bytes, 20 * PAGE);
	CHECK_INT(m->account.site[1].rss_bytes, 5 * PAGE);
	CHECK_INT(m->account.sites, 2);
	CHECK_INT(row_of(m, MAP_POOL)->rss_bytes, (25 + 10) * PAGE);
	check_sum(m);
	map_unref(m);
}

/* The largest have rows of their own. */
TEST(many_sites_share_a_row)
{
	struct map_vma vma[40];
	struct map_range range[40];
	struct map_input in = { .vma = vma, .vmas = 40, .range = range, .ranges = 40 };
	const struct map_row *rest;
	struct map *m;
	char name[48];

	for (unsigned i = 0; i < 40; i++) {
		uint64_t at = ANON + i * 100 * PAGE;

		range[i] = (struct map_range){ at, at + 50 * PAGE, 1 + i };
		vma[i] = (struct map_vma){ at, at + 50 * PAGE, MAP_OTHER, true, (i + 1) * PAGE, 0 };
	}
	m = make(&in, NULL);
	CHECK_INT(m->rows, MAP_SITES + 1);
	CHECK_INT(m->row[0].site, 40);
	CHECK_INT(m->row[MAP_SITES - 1].site, 40 - MAP_SITES + 1);
	rest = &m->row[MAP_SITES];
	CHECK_INT(rest->site, 0);
	CHECK_INT(rest->spans, 40 - MAP_SITES);
	CHECK_STR(map_row_name(rest, name), "mapped elsewhere");
	CHECK_INT(m->account.sites, MAP_SITES);
	check_sum(m);
	map_unref(m);
}

/* A table that changed while it was read, or a hostile one. */
TEST(impossible_blocks_do_no_harm)
{
	static const struct map_block block[] = { { 5, 3, 1 }, { BRK - 8, 100, 1 },
		{ BRK + 16, UINT64_MAX, 2 }, { BRK + 24, 400, 3 }, { BRK + 24, 400, 4 },
		{ BRK + 8 * PAGE - 16, 1 << 20, 5 }, { ANON, UINT64_MAX / 2, 6 },
		{ UINT64_MAX - 1, UINT64_MAX, 7 } };
	const struct map_vma vma[] = { heap,
		{ ANON, ANON + 4 * PAGE, MAP_OTHER, true, 4 * PAGE, 0 } };
	struct map_input in = { .vma = vma, .vmas = 2, .block = block, .blocks = 8 };

	for (int glibc = 0; glibc < 2; glibc++) {
		struct map *m;

		in.glibc = glibc;
		m = make(&in, NULL);
		for (size_t i = 0; i < m->pages; i++)
			CHECK(m->page[i].owned <= PAGE);
		check_sum(m);
		CHECK_INT(m->account.rss_bytes, 12 * PAGE);
		map_unref(m);
	}
}

/* Reserved and not used: it is not read page by page, and still counts. */
TEST(address_spaces_without_end)
{
	static const struct map_vma vma[] = { { ANON, ANON + (1ull << 44), MAP_OTHER, true,
		5 * PAGE, PAGE } };
	static const struct map_block block[] = { { ANON + 16, 64, 1 } };
	struct map_input in = { .vma = vma, .vmas = 1, .block = block, .blocks = 1 };
	struct map *m = make(&in, NULL);

	CHECK_INT(m->pages, 0);
	CHECK_INT(m->account.rss_bytes, 5 * PAGE);
	CHECK_INT(m->account.swap_bytes, PAGE);
	check_sum(m);
	map_unref(m);
}

TEST(sampled_is_estimated)
{
	const struct map_vma vma[] = { heap,
		{ ANON, ANON + 100 * PAGE, MAP_OTHER, true, 50 * PAGE, 0 } };
	struct map_input in = {
		.vma = vma, .vmas = 2, .glibc = true, .sampled = true, .live_bytes = 30 * PAGE
	};
	struct map *m = make(&in, NULL);

	CHECK(m->account.sampled);
	CHECK_INT(m->pages, 0);
	CHECK_INT(m->account.part[MAP_PART_LIVE], 30 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_OTHER], 28 * PAGE);
	CHECK_INT(m->account.part[MAP_PART_FREE], 0);
	check_sum(m);
	map_unref(m);
	in.live_bytes = 1000 * PAGE;
	m = make(&in, NULL);
	check_sum(m);
	map_unref(m);
	/* A forked process has unknown blocks from before the fork. */
	in = (struct map_input){
		.vma = vma, .vmas = 2, .glibc = true, .forked = true, .live_bytes = 30 * PAGE
	};
	m = make(&in, NULL);
	CHECK(m->account.forked && !m->account.sampled);
	CHECK_INT(m->pages, 0);
	CHECK_INT(m->account.part[MAP_PART_FREE], 0);
	check_sum(m);
	map_unref(m);
}

TEST(sums_of_pages)
{
	static const struct map_block block[] = { { BRK + 16, 3000, 1 },
		{ BRK + 2 * PAGE + 16, 24, 2 } };
	struct map_input in = {
		.vma = &heap, .vmas = 1, .block = block, .blocks = 2, .glibc = true
	};
	struct map *m = make(&in, second_absent);
	struct map_sum s;

	map_sum(m, &m->row[0], 0, 4, &s);
	CHECK_INT(s.pages, 4);
	CHECK_INT(s.present, 2);
	CHECK_INT(s.swapped, 1);
	CHECK_INT(s.owned, 3008);
	CHECK_INT(s.blocks, 2);
	CHECK(s.has_site && s.site == 2);
	map_sum(m, &m->row[0], 7, 100, &s);
	CHECK(s.pages == 1 && !s.has_site && s.owned == 0);
	map_unref(m);
}

int main(void)
{
	RUN(chunks_take_what_glibc_gives_them);
	RUN(a_block_counts_as_far_as_it_is_in_memory);
	RUN(who_pins);
	RUN(what_is_not_there_is_not_pinned);
	RUN(trim_gives_back_whole_free_pages);
	RUN(blocks_with_mappings_of_their_own_are_cut_out);
	RUN(pages_of_zeros_are_no_memory);
	RUN(a_block_whose_mapping_was_cut_is_one);
	RUN(where_small_blocks_lie_is_the_allocators);
	RUN(arenas_stacks_and_our_own);
	RUN(what_the_program_mapped_has_its_site);
	RUN(many_ranges_of_one_mapping);
	RUN(known_pieces_go_before_ranges);
	RUN(many_sites_share_a_row);
	RUN(impossible_blocks_do_no_harm);
	RUN(address_spaces_without_end);
	RUN(sampled_is_estimated);
	RUN(sums_of_pages);
	return check_end();
}
