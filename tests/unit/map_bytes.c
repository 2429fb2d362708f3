/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps as bytes: what comes out is what went in; what is cut or spoilt is no map, or a whole one.
 */
#include <stdlib.h>
#include <string.h>

#include "src/memory/map_bytes.h"
#include "src/memory/map_texts.h"
#include "tests/check.h"

#define PAGE 4096ull
#define BRK  0x10000000ull
#define ANON 0x7f0000000000ull

static const struct map_vma vmas[] = { { BRK, BRK + 8 * PAGE, MAP_BRK, false, 8 * PAGE, 0 },
	{ ANON, ANON + 64 * PAGE, MAP_OTHER, true, 60 * PAGE, PAGE },
	{ ANON + 100 * PAGE, ANON + 110 * PAGE, MAP_FILE, false, 9 * PAGE, 0 } };
static const struct map_piece arena = { ANON, ANON + 32 * PAGE, MAP_ARENA, 0x7f1 };
static const struct map_range range = { ANON + 40 * PAGE, ANON + 50 * PAGE, 9 };
static const struct map_block blocks[] = { { BRK + 16, 24, 1 }, { BRK + 4096 + 48, 25, 2 },
	{ BRK + 3 * 4096, 9000, 70000 }, { ANON + 16, 100, 3 }, { ANON + 4096, 200, 4 } };

static struct map *made(void)
{
	struct map_input in = { .vma = vmas,
		.vmas = 3,
		.piece = &arena,
		.pieces = 1,
		.range = &range,
		.ranges = 1,
		.block = blocks,
		.blocks = 5,
		.glibc = true };
	struct map *m = map_new(&in);

	for (size_t i = 0; i < m->pages; i++)
		m->page[i].flags = i % 7 == 3 ? MAP_PAGE_SWAPPED : MAP_PAGE_PRESENT;
	CHECK_INT(map_count(m, &in), 0);
	m->account.note = map_texts[MAP_TEXT_FOREIGN];
	m->account.took_ns = 12345;
	m->account.cpu_ns = UINT64_C(1) << 40;
	return m;
}

static void spans_compare(const struct map *a, const struct map *b)
{
	CHECK_INT(a->spans, b->spans);
	for (size_t i = 0; i < a->spans; i++) {
		CHECK(a->span[i].start == b->span[i].start && a->span[i].end == b->span[i].end);
		CHECK(a->span[i].kind == b->span[i].kind && a->span[i].arena == b->span[i].arena);
		CHECK(a->span[i].is_fine == b->span[i].is_fine);
		CHECK_INT(a->span[i].rank, b->span[i].rank);
		CHECK_INT(a->span[i].page, b->span[i].page);
		CHECK(a->span[i].rss_bytes == b->span[i].rss_bytes &&
			a->span[i].swap_bytes == b->span[i].swap_bytes);
	}
}

static void rows_compare(const struct map *a, const struct map *b)
{
	CHECK_INT(a->rows, b->rows);
	for (size_t i = 0; i < a->rows; i++) {
		CHECK(a->row[i].id == b->row[i].id && a->row[i].kind == b->row[i].kind);
		CHECK(a->row[i].number == b->row[i].number && a->row[i].site == b->row[i].site);
		CHECK(a->row[i].first_span == b->row[i].first_span);
		CHECK_INT(a->row[i].spans, b->row[i].spans);
		CHECK_INT(a->row[i].pages, b->row[i].pages);
		CHECK(a->row[i].first_page == b->row[i].first_page);
		CHECK(a->row[i].size_bytes == b->row[i].size_bytes);
		CHECK(a->row[i].rss_bytes == b->row[i].rss_bytes);
		CHECK(a->row[i].swap_bytes == b->row[i].swap_bytes);
		CHECK(a->row[i].live_bytes == b->row[i].live_bytes);
		CHECK(a->row[i].slack_bytes == b->row[i].slack_bytes);
		CHECK(a->row[i].blocks == b->row[i].blocks);
	}
}

static void pages_compare(const struct map *a, const struct map *b)
{
	CHECK_INT(a->pages, b->pages);
	for (size_t i = 0; i < a->pages; i++) {
		CHECK(a->page[i].owned == b->page[i].owned && a->page[i].flags == b->page[i].flags);
		CHECK_INT(a->page[i].blocks, b->page[i].blocks);
		CHECK(a->page[i].owned == 0 || a->page[i].site == b->page[i].site);
	}
}

static void account_compare(const struct map_account *a, const struct map_account *b)
{
	CHECK(a->known && b->known && b->note == map_texts[MAP_TEXT_FOREIGN] && !b->why);
	CHECK_INT(memcmp(a->part, b->part, sizeof(a->part)), 0);
	CHECK(a->rss_bytes == b->rss_bytes && a->swap_bytes == b->swap_bytes);
	CHECK(a->live_bytes == b->live_bytes && a->trim_bytes == b->trim_bytes);
	CHECK(a->top_bytes == b->top_bytes && a->pinned_pages == b->pinned_pages);
	CHECK(a->pinned_bytes == b->pinned_bytes && a->glibc == b->glibc);
	CHECK(a->took_ns == b->took_ns && a->cpu_ns == b->cpu_ns);
	CHECK(a->pins > 0 && a->pins == b->pins && a->sites > 0 && a->sites == b->sites);
	for (unsigned i = 0; i < a->pins; i++)
		CHECK(a->pin[i].site == b->pin[i].site &&
			a->pin[i].cost_bytes == b->pin[i].cost_bytes &&
			a->pin[i].pages == b->pin[i].pages && a->pin[i].alone == b->pin[i].alone);
	for (unsigned i = 0; i < a->sites; i++)
		CHECK(a->site[i].site == b->site[i].site &&
			a->site[i].rss_bytes == b->site[i].rss_bytes);
}

TEST(what_comes_out_is_what_went_in)
{
	struct map *m = made(), *again;
	struct bytes b = { 0 };
	struct bytes_cursor c;

	map_bytes_put(&b, m);
	c = bytes_begin(&b);
	again = map_bytes_get(&c);
	CHECK(again != NULL);
	spans_compare(m, again);
	rows_compare(m, again);
	pages_compare(m, again);
	account_compare(&m->account, &again->account);
	CHECK_INT(memcmp(m->class, again->class, sizeof(m->class)), 0);
	map_unref(again);
	map_unref(m);
	bytes_free(&b);
}

TEST(a_map_that_says_why_it_is_none)
{
	struct map *m = map_texts_empty(MAP_TEXT_REFUSED), *again;
	struct bytes b = { 0 };
	struct bytes_cursor c;

	map_bytes_put(&b, m);
	c = bytes_begin(&b);
	again = map_bytes_get(&c);
	CHECK(again && !again->account.known && again->rows == 0);
	CHECK(again && again->account.why == map_texts[MAP_TEXT_REFUSED]);
	map_unref(again);
	map_unref(m);
	bytes_free(&b);
}

/* What a view does with it. */
static void map_walk(const struct map *m)
{
	CHECK(m->account.known || m->account.why);
	CHECK(m->pages <= MAP_PAGES_MAX && m->account.pins <= MAP_PINS);
	for (size_t i = 0; i < m->rows; i++) {
		const struct map_row *row = &m->row[i];
		struct map_sum sum;
		char name[48];

		CHECK(row->first_span + row->spans <= m->spans);
		CHECK(row->first_page + row->pages <= m->pages);
		map_sum(m, row, 0, row->pages, &sum);
		(void)map_row_name(row, name);
		if (row->pages > 0)
			(void)map_page_at(m, row, map_page_address(m, row, row->pages - 1));
	}
}

static unsigned tried(const struct bytes *b, size_t len)
{
	struct bytes_cursor c = { b->data, b->data + len, false };
	struct map *m = map_bytes_get(&c);

	if (!m)
		return 0;
	map_walk(m);
	map_unref(m);
	return 1;
}

TEST(what_is_cut_is_no_map)
{
	struct map *m = made();
	struct bytes b = { 0 };

	map_bytes_put(&b, m);
	for (size_t n = 0; n < b.len; n++)
		CHECK_INT(tried(&b, n), 0);
	CHECK_INT(tried(&b, b.len), 1);
	map_unref(m);
	bytes_free(&b);
}

/* Every byte, by every value that ends a number, goes on with it, or makes it large. */
TEST(what_is_spoilt_stays_within_its_bounds)
{
	static const uint8_t to[] = { 0, 1, 2, 0x40, 0x7f, 0x80, 0xff };
	struct map *m = made();
	struct bytes b = { 0 };
	unsigned whole = 0;

	map_bytes_put(&b, m);
	for (size_t at = 0; at < b.len; at++)
		for (size_t i = 0; i < sizeof(to); i++) {
			uint8_t was = b.data[at];

			b.data[at] = to[i];
			whole += tried(&b, b.len);
			b.data[at] = was;
		}
	CHECK(whole > 0); /* some figures may be anything */
	map_unref(m);
	bytes_free(&b);
}

/* Many pages in few bytes: more than any map has. */
TEST(pages_without_end_are_refused)
{
	const struct map_vma large = { ANON, ANON + MAP_PAGES_MAX * PAGE, MAP_BRK, false, 0, 0 };
	const struct map_input in = { .vma = &large, .vmas = 1, .glibc = true };
	struct map *m = map_new(&in);
	struct bytes b = { 0 };

	CHECK(m && m->pages == MAP_PAGES_MAX);
	map_bytes_put(&b, m);
	CHECK(b.len < 400);
	CHECK_INT(tried(&b, b.len), 1);
	b.len = 0;
	m->span[0].end += PAGE;
	map_bytes_put(&b, m);
	CHECK_INT(tried(&b, b.len), 0);
	map_unref(m);
	bytes_free(&b);
}

int main(void)
{
	RUN(what_comes_out_is_what_went_in);
	RUN(a_map_that_says_why_it_is_none);
	RUN(what_is_cut_is_no_map);
	RUN(what_is_spoilt_stays_within_its_bounds);
	RUN(pages_without_end_are_refused);
	return check_end();
}
