/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table's cells, names, graphs and order: what the screen, batch frames and report all show. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include "src/model/columns.h"
#include "src/util/text.h"
#include "tests/unit/canned.h"
#include "tests/check.h"

static const struct row_style utf8 = {
	.glyphs = GLYPHS_BLOCKS, .names = NAMES_FULL, .site_cells = 40, .line_cells = 20
};
static const struct row_style ascii = {
	.glyphs = GLYPHS_ASCII, .names = NAMES_FULL, .site_cells = 40, .line_cells = 20
};

static const char *text(enum column c, unsigned site, const struct row_style *style)
{
	static char out[COLUMN_TEXT_MAX];

	column_text(c, &canned, &canned_sites[site], style, out);
	return out;
}

TEST(table_is_complete)
{
	for (int c = 0; c < COL_COUNT; c++) {
		const struct column_info *info = &column_table[c];

		CHECK(info->key && info->title && info->help);
		CHECK_INT(column_find(info->key), c);
		CHECK(c == COL_SITE ? info->cells == 0 : info->cells >= strlen(info->title));
	}
	CHECK_INT(column_find(""), -1);
	CHECK_INT(column_find("LIVE"), -1);
	CHECK_INT(column_find("liv"), -1);
}

TEST(cells_of_the_peak)
{
	struct snap_site site = canned_sites[1];
	struct snapshot s = canned;
	char out[COLUMN_TEXT_MAX];

	s.totals.has_at_peak = true;
	s.totals.at_peak_bytes = 4000;
	site.at_peak_bytes = 1000;
	column_text(COL_AT_PEAK, &s, &site, &utf8, out);
	CHECK_STR(out, "1000");
	column_text(COL_AT_PEAK_SHARE, &s, &site, &utf8, out);
	CHECK_STR(out, "25.0");
	site.of_thread = true; /* what one thread had then is not kept */
	column_text(COL_AT_PEAK, &s, &site, &utf8, out);
	CHECK_STR(out, "-");
	CHECK_INT(column_find("atpeak"), COL_AT_PEAK);
	CHECK_INT(column_find("peakshare"), COL_AT_PEAK_SHARE);
}

TEST(cells_of_numbers)
{
	CHECK_STR(text(COL_LIVE, 0, &utf8), "96.4M");
	CHECK_STR(text(COL_PERCENT, 0, &utf8), "75.1");
	CHECK_STR(text(COL_RATE, 0, &utf8), "+1.1M/s");
	CHECK_STR(text(COL_RATE, 1, &utf8), "0");
	CHECK_STR(text(COL_RATE, 2, &utf8), "-96k/s");
	CHECK_STR(text(COL_BLOCKS, 0, &utf8), "101.2k");
	CHECK_STR(text(COL_AVG, 0, &utf8), "998");
	CHECK_STR(text(COL_AVG, 3, &utf8), "-"); /* no live block has no size */
	CHECK_STR(text(COL_PEAK, 0, &utf8), "97.0M");
	CHECK_STR(text(COL_AT_PEAK, 0, &utf8), "-"); /* a source that does not know */
	CHECK_STR(text(COL_AT_PEAK_SHARE, 0, &utf8), "-");
	CHECK_STR(text(COL_ALLOCS, 0, &utf8), "197.6k");
	CHECK_STR(text(COL_TEMP, 0, &utf8), "12");
	CHECK_STR(text(COL_GROWTH, 0, &utf8), "sure");
	CHECK_STR(text(COL_GROWTH, 1, &utf8), "-");
	CHECK_STR(text(COL_COUNT, 0, &utf8), "");
}

static const char *order_by(const struct snapshot *s, enum column c, bool reverse)
{
	static char out[128];
	uint32_t order[8];
	int n = 0;

	sites_sort(s, c, reverse, order);
	out[0] = '\0';
	for (size_t i = 0; i < s->nsites; i++)
		n += snprintf(out + n, sizeof(out) - (size_t)n, "%s%u", i ? " " : "",
			s->sites[order[i]].id);
	return out;
}

/* Only after a scan, and a group has no sum of it. */
TEST(cells_of_retained_bytes)
{
	struct snap_site sites[2] = { canned_sites[0], canned_sites[1] };
	struct snap_group group = { 0 };
	struct snapshot s = canned;
	char out[COLUMN_TEXT_MAX];

	s.sites = sites;
	s.nsites = 2;
	sites[1].retained_bytes = 96 << 20;
	column_text(COL_RETAINED, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "-");
	s.has_retained = true;
	column_text(COL_RETAINED, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "96.0M");
	CHECK_STR(order_by(&s, COL_RETAINED, false), "3 17");
	CHECK_STR(order_by(&s, COL_RETAINED, true), "17 3");
	sites[1].group = &group;
	column_text(COL_RETAINED, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "-");
	CHECK_STR(order_by(&s, COL_RETAINED, false), "17 3");
}

/* Said beside the site, with its share; sites without a type sort after all. */
TEST(cells_of_types)
{
	struct snap_site sites[2] = { canned_sites[0], canned_sites[1] };
	struct snapshot s = canned;
	char out[COLUMN_TEXT_MAX];

	s.sites = sites;
	s.nsites = 2;
	column_text(COL_TYPE, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "-");
	sites[1].type = (struct snap_type){ "Session", 200, 200 };
	column_text(COL_TYPE, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "Session");
	sites[1].type.blocks = 199; /* rounded, 100 */
	column_text(COL_TYPE, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "Session (99 %)");
	CHECK_STR(order_by(&s, COL_TYPE, false), "3 17");
	CHECK_STR(order_by(&s, COL_TYPE, true), "3 17");
	sites[0].type = (struct snap_type){ "Conn (make_shared)", 3, 4 };
	column_text(COL_TYPE, &s, &sites[0], &utf8, out);
	CHECK_STR(out, "Conn (make_s… (75 %)");
	CHECK_STR(order_by(&s, COL_TYPE, false), "17 3");
	CHECK_STR(order_by(&s, COL_TYPE, true), "3 17");
	sites[0].of_thread = true;
	column_text(COL_TYPE, &s, &sites[0], &utf8, out);
	CHECK_STR(out, "-");
}

/* An ancestor's row does not pass for the caller that it is named after. */
TEST(names_of_ancestors)
{
	struct stack stack = canned_stacks[0];
	struct snap_site site = canned_sites[0];
	struct row_style style = utf8;
	char out[COLUMN_TEXT_MAX];

	stack.ancestor = true;
	site.stack = &stack;
	site_name(&site, &style, out, sizeof(out));
	CHECK_STR(out, "deeper than cache::Shard::insert(int)");
	style.site_cells = 20;
	site_name(&site, &style, out, sizeof(out));
	CHECK_STR(out, "deeper than cache::…");
	for (style.site_cells = 1; style.site_cells < 60; style.site_cells++) {
		site_name(&site, &style, out, sizeof(out));
		CHECK(text_cells(out) <= style.site_cells);
	}
}

TEST(cells_of_names)
{
	CHECK_STR(text(COL_SITE, 0, &utf8), "cache::Shard::insert(int)");
	CHECK_STR(text(COL_LINE, 0, &utf8), "cache.cc:214");
	CHECK_STR(text(COL_SITE, 1, &utf8), "arena_new");
	CHECK_STR(text(COL_LINE, 1, &utf8), "arena.c:118");
	CHECK_STR(text(COL_SITE, 2, &utf8), "?? libfoo.so.3+0x4f1c0");
	CHECK_STR(text(COL_LINE, 2, &utf8), "libfoo.so.3");
	{
		struct row_style narrow = utf8;

		narrow.site_cells = 16;
		CHECK_STR(text(COL_SITE, 2, &narrow), "?? libf…+0x4f1c0");
		narrow.site_cells = 17;
		CHECK_STR(text(COL_SITE, 2, &narrow), "?? libfoo+0x4f1c0");
		narrow.site_cells = 14;
		CHECK_STR(text(COL_SITE, 2, &narrow), "?? +0x4f1c0");
		narrow.site_cells = 9;
		CHECK_STR(text(COL_SITE, 2, &narrow), "?? …4f1c0");
	}
	CHECK_STR(text(COL_SITE, 3, &utf8), "?? 0x7f1122334455");
	CHECK_STR(text(COL_LINE, 3, &utf8), "");
}

TEST(innermost_frame_on_wish)
{
	struct row_style style = ascii;

	style.show_hidden = true;
	CHECK_STR(text(COL_SITE, 0, &style), "std::allocator<int>::allocate(unsigned ~");
	CHECK_STR(text(COL_LINE, 0, &style), "new_allocator.h:137");
}

TEST(names_fit_their_column)
{
	struct row_style style = utf8;

	style.site_cells = 10;
	style.line_cells = 6;
	CHECK_STR(text(COL_SITE, 0, &style), "cache::Sh…");
	CHECK_STR(text(COL_LINE, 0, &style), "…c:214"); /* the line is what matters */
	style.glyphs = GLYPHS_ASCII;
	CHECK_STR(text(COL_SITE, 0, &style), "cache::Sh~");
	style.names = NAMES_SHORT;
	for (style.site_cells = 1; style.site_cells < 60; style.site_cells++)
		CHECK(text_cells(text(COL_SITE, 0, &style)) <= style.site_cells);
}

TEST(places)
{
	static const struct frame no_line = {
		.module = &canned_app, .function = "f", .file = "/a/b.c"
	};
	static const struct frame no_file = { .module = &canned_lib, .function = "f", .file = "" };
	char out[64];

	frame_place(&no_line, 0, false, out, sizeof(out));
	CHECK_STR(out, "b.c");
	frame_place(&no_file, 0, false, out, sizeof(out));
	CHECK_STR(out, "libfoo.so.3");
	frame_place(&no_file, 4, true, out, sizeof(out));
	CHECK_STR(out, ".o.3");
	frame_name(&no_line, true, 0, false, out, 0); /* no room: not even a NUL */
	CHECK_STR(out, ".o.3");
}

TEST(padding)
{
	char out[COLUMN_TEXT_MAX];
	size_t n;

	column_cell(COL_LIVE, &canned, &canned_sites[0], &utf8, 8, out);
	CHECK_STR(out, "   96.4M");
	column_cell(COL_SITE, &canned, &canned_sites[1], &utf8, 12, out);
	CHECK_STR(out, "arena_new   ");
	column_cell(COL_LIVE, &canned, &canned_sites[0], &ascii, 3, out);
	CHECK_STR(out, "###");
	n = column_cell(COL_TREND, &canned, &canned_sites[0], &utf8, 6, out);
	CHECK_STR(out, "  ▁▃▇▇");
	CHECK_INT(n, strlen(out));
	CHECK_INT(column_cell(COL_LIVE, &canned, &canned_sites[0], &utf8, 0, out), 0);
	CHECK_STR(out, "");
	CHECK(column_cell(COL_SITE, &canned, &canned_sites[1], &utf8, 9000, out) < COLUMN_TEXT_MAX);
}

TEST(every_cell_is_exact)
{
	char out[COLUMN_TEXT_MAX];

	for (int c = 0; c < COL_COUNT; c++) {
		for (unsigned site = 0; site < canned.nsites; site++) {
			for (unsigned cells = 1; cells < 60; cells++) {
				column_cell((enum column)c, &canned, &canned_sites[site],
					cells & 1 ? &utf8 : &ascii, cells, out);
				CHECK_INT(text_cells(out), cells);
			}
		}
	}
}

TEST(sparks)
{
	static const uint64_t ramp[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const uint64_t flat[] = { 5, 5, 5 };
	static const uint64_t huge[] = { 0, UINT64_MAX / 2, UINT64_MAX, UINT64_MAX };
	static const uint64_t zero[] = { 0, 0 };
	char out[64];

	/* The top stays free; the newest value does not change the scale. */
	spark_text(ramp, 8, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▂▃▄▅▆▇▇");
	spark_text(ramp, 8, GLYPHS_BRAILLE, out, sizeof(out));
	CHECK_STR(out, "⣀⣀⣤⣤⣤⣶⣶⣶");
	spark_text(ramp, 8, GLYPHS_ASCII, out, sizeof(out));
	CHECK_STR(out, " :-==+**");
	spark_text(flat, 3, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▁▁");
	CHECK(spark_is_flat(flat, 3) && !spark_is_flat(ramp, 8));
	spark_text(flat, 3, GLYPHS_ASCII, out, sizeof(out));
	CHECK_STR(out, "..."); /* little is not nothing */
	spark_text(huge, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▄▇▇");
	spark_text(zero, 2, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▁");
	spark_text(zero, 0, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "");
	spark_text(ramp, 8, GLYPHS_BLOCKS, out, 9); /* two glyphs and a bit: no half one */
	CHECK_STR(out, "▁▂");
}

TEST(estimates_that_may_be_of_nothing)
{
	struct snap_site sites[3] = { canned_sites[0], canned_sites[1], canned_sites[2] };
	struct snapshot s = canned;
	uint32_t order[3];
	char out[COLUMN_TEXT_MAX];

	s.sites = sites;
	s.nsites = 3;
	s.sampling.most = 1 << 20;
	sites[0].live_bytes = 1400000;
	sites[0].error.live_bytes = 1900000;
	sites[1].live_bytes = 1000000;
	sites[1].error.live_bytes = 100000;
	sites[2].live_bytes = 130000000;
	sites[2].error.live_bytes = 130000000;
	column_text(COL_LIVE, &s, &sites[0], &utf8, out);
	CHECK_STR(out, "<3.1M");
	column_text(COL_ERROR, &s, &sites[0], &utf8, out);
	CHECK_STR(out, "noise");
	column_text(COL_LIVE, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "976.6k");
	column_text(COL_ERROR, &s, &sites[1], &utf8, out);
	CHECK_STR(out, "97.7k");
	column_cell(COL_LIVE, &s, &sites[2], &utf8, 6, out);
	CHECK_STR(out, " <248M"); /* it fits its column */
	/* What is certain comes first. */
	sites_sort(&s, COL_LIVE, false, order);
	CHECK_INT(order[0], 1);
	CHECK_INT(order[1], 2);
	CHECK_INT(order[2], 0);
	s.sampling.most = 0;
	sites_sort(&s, COL_LIVE, false, order);
	CHECK_INT(order[0], 2);
}

/* A row that grows by one part in a hundred does not look like one that stands still, and a ripple
 * does not look like growth. */
TEST(trends_and_ripples)
{
	uint64_t grows[10], falls[10], ripple[10], jumps[10];
	char out[64];

	for (unsigned i = 0; i < 10; i++) {
		grows[i] = 100000000 + i * 110000;
		falls[i] = 100000000 - i * 110000;
		ripple[i] = 100000000 + (i & 1) * 2000000;
		jumps[i] = 100000000 + (i & 1) * 90000000;
	}
	spark_text(grows, 10, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▂▃▃▄▅▆▆▇▇");
	CHECK(!spark_is_flat(grows, 10));
	spark_text(falls, 10, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▇▆▆▅▄▃▃▂▁▁");
	spark_text(ripple, 10, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▁▁▁▁▁▁▁▁▁");
	CHECK(spark_is_flat(ripple, 10));
	spark_text(jumps, 10, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▁▇▁▇▁▇▁▇▁▇");
}

TEST(bars)
{
	char out[64];

	bar_text(50, 100, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "██  ");
	bar_text(100, 100, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "████");
	bar_text(300, 100, 4, GLYPHS_ASCII, out, sizeof(out));
	CHECK_STR(out, "||||");
	bar_text(9, 32, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "█▏  ");
	bar_text(3, 8, 4, GLYPHS_BRAILLE, out, sizeof(out));
	CHECK_STR(out, "⣿⡇  ");
	bar_text(1, 1000000, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "▏   "); /* little is not nothing */
	bar_text(0, 100, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "    ");
	bar_text(5, 0, 4, GLYPHS_BLOCKS, out, sizeof(out));
	CHECK_STR(out, "    ");
	bar_text(UINT64_MAX / 2, UINT64_MAX, 4, GLYPHS_ASCII, out, sizeof(out));
	CHECK_STR(out, "||  ");
	bar_text(5, 5, 0, GLYPHS_ASCII, out, sizeof(out));
	CHECK_STR(out, "");
}

/* "id id id id": the order as ids. */

TEST(sort_by_each_column)
{
	CHECK_STR(order_by(&canned, COL_LIVE, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_LIVE, true), "9 4 3 17");
	CHECK_STR(order_by(&canned, COL_PERCENT, false), "17 3 4 9");
	CHECK_STR(
		order_by(&canned, COL_RATE, false), "17 3 9 4"); /* 3 and 9 stand still: by live */
	CHECK_STR(order_by(&canned, COL_RATE, true), "4 3 9 17");
	CHECK_STR(order_by(&canned, COL_TREND, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_BLOCKS, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_AVG, false), "3 4 17 9");
	CHECK_STR(order_by(&canned, COL_PEAK, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_ALLOCS, false), "17 3 9 4");
	CHECK_STR(order_by(&canned, COL_TEMP, false), "17 9 3 4");
	CHECK_STR(order_by(&canned, COL_AT_PEAK, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_GROWTH, false), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_SITE, false), "3 17 9 4"); /* nameless last, by object */
	CHECK_STR(order_by(&canned, COL_SITE, true), "17 3 4 9");
	CHECK_STR(order_by(&canned, COL_LINE, false), "3 17 9 4");
}

TEST(sort_ties)
{
	struct snap_site sites[4] = { canned_sites[1], canned_sites[1], canned_sites[1],
		canned_sites[1] };
	struct snapshot s = { .sites = sites, .nsites = 4 };

	sites[0].id = 30;
	sites[1].id = 20;
	sites[2].id = 10;
	sites[3].id = 40;
	sites[3].live_bytes++;
	CHECK_STR(order_by(&s, COL_BLOCKS, false), "40 10 20 30");
	CHECK_STR(order_by(&s, COL_BLOCKS, true), "40 10 20 30");
	CHECK_STR(order_by(&s, COL_SITE, false), "40 10 20 30");
	CHECK_STR(order_by(&s, COL_SITE, true), "40 10 20 30");
	CHECK_STR(order_by(&s, COL_LIVE, true), "10 20 30 40");
	sites[1].rate_bytes_per_s = (double)NAN;
	CHECK_STR(order_by(&s, COL_RATE, false), "40 10 20 30");
	s.nsites = 1;
	CHECK_STR(order_by(&s, COL_LIVE, false), "30");
	s.nsites = 0;
	CHECK_STR(order_by(&s, COL_LIVE, false), "");
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Many rows over the whole range of numbers, with ties, against the rule spelled out. */
TEST(sort_many)
{
	enum { N = 20000 };
	struct snap_site *sites = calloc(N, sizeof(*sites));
	uint32_t *order = malloc(N * sizeof(*order));
	bool *seen = calloc(N, sizeof(*seen));
	struct snapshot s = { .sites = sites, .nsites = N };

	for (uint32_t i = 0; i < N; i++) {
		sites[i] = canned_sites[i % 4];
		sites[i].id = (i * 7919u) % N;
		sites[i].live_bytes = random_next() % 50;
		sites[i].peak_live_bytes = random_next() >> random_next() % 64;
	}
	sites_sort(&s, COL_PEAK, false, order);
	for (uint32_t i = 0; i < N; i++) {
		const struct snap_site *b = &sites[order[i]], *a = i ? &sites[order[i - 1]] : b;
		bool right = a->peak_live_bytes > b->peak_live_bytes;

		if (a->peak_live_bytes == b->peak_live_bytes)
			right = a->live_bytes > b->live_bytes ||
				(a->live_bytes == b->live_bytes && a->id <= b->id);
		CHECK(right && !seen[order[i]]);
		seen[order[i]] = true;
	}
	free(sites);
	free(order);
	free(seen);
}

TEST(name_styles_of_frames)
{
	static const char *const want[NAMES_COUNT] = { "get(...)", "get(std::string const&)",
		"_Z3getRKSs", "server+0x12" };
	struct frame f = { .module = &canned_app,
		.offset = 0x12,
		.function = "get(std::string const&)",
		.mangled = "_Z3getRKSs" };
	char out[COLUMN_TEXT_MAX];

	for (int style = 0; style < NAMES_COUNT; style++) {
		frame_name(&f, (enum name_style)style, 0, true, out, sizeof(out));
		if (style == NAMES_SHORT)
			CHECK(!strncmp(out, "get(", 4) &&
				strlen(out) < strlen(want[NAMES_FULL]) + 1);
		else
			CHECK_STR(out, want[style]);
	}
	f.mangled = NULL;
	frame_name(&f, NAMES_MANGLED, 0, true, out, sizeof(out));
	CHECK_STR(out, want[NAMES_FULL]);
	f.function = NULL; /* unavailable: each style says so */
	for (int style = 0; style < NAMES_COUNT; style++) {
		frame_name(&f, (enum name_style)style, 0, true, out, sizeof(out));
		CHECK_STR(out, "?? server+0x12");
	}
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	RUN(table_is_complete);
	RUN(cells_of_the_peak);
	RUN(cells_of_numbers);
	RUN(cells_of_retained_bytes);
	RUN(cells_of_types);
	RUN(names_of_ancestors);
	RUN(cells_of_names);
	RUN(innermost_frame_on_wish);
	RUN(names_fit_their_column);
	RUN(places);
	RUN(padding);
	RUN(every_cell_is_exact);
	RUN(sparks);
	RUN(estimates_that_may_be_of_nothing);
	RUN(trends_and_ripples);
	RUN(bars);
	RUN(sort_by_each_column);
	RUN(sort_ties);
	RUN(sort_many);
	RUN(name_styles_of_frames);
	return check_end();
}
