/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout at every size: nothing overlaps, nothing is outside, what matters most is always
 * there. */
#include "tests/check.h"
#include "tui/layout.h"

#define WIDTH_MOST  250
#define HEIGHT_MOST 80
#define FLAGS_END   16

static void check_rows(const struct layout *l)
{
	bool used[HEIGHT_MOST] = { false };
	int last = -1;

	for (enum layout_row row = 0; row < ROW_COUNT; row++) {
		int lines = row == ROW_BODY ? l->body_height : 1;

		if (l->y[row] < 0)
			continue;
		CHECK(l->y[row] > last);
		CHECK(l->y[row] + lines <= l->height);
		for (int i = 0; i < lines; i++)
			used[l->y[row] + i] = true;
		last = l->y[row] + lines - 1;
	}
	for (int y = 0; y < l->height; y++)
		CHECK(used[y]);
}

TEST(rows_fill_the_screen_and_never_overlap)
{
	for (int h = 1; h <= HEIGHT_MOST; h++) {
		for (unsigned flags = 0; flags < FLAGS_END; flags++) {
			struct layout l;

			layout_make(&l, 100, h, flags);
			CHECK_INT(l.tiny, h < LAYOUT_MIN_HEIGHT);
			if (!l.tiny)
				check_rows(&l);
		}
	}
}

TEST(body_message_and_tabs_are_always_there)
{
	for (int h = LAYOUT_MIN_HEIGHT; h <= HEIGHT_MOST; h++) {
		for (unsigned flags = 0; flags < FLAGS_END; flags++) {
			struct layout l;

			layout_make(&l, LAYOUT_MIN_WIDTH, h, flags);
			CHECK(l.body_height >= 2);
			CHECK(l.y[ROW_BODY] >= 0 && l.y[ROW_MESSAGE] >= 0 && l.y[ROW_TABS] >= 0);
			CHECK_INT(l.y[ROW_NOTICE] >= 0, (flags & LAYOUT_NOTICE) != 0);
		}
	}
}

TEST(full_from_80x24)
{
	struct layout l;

	layout_make(&l, 80, 24, 0);
	for (enum layout_row row = 0; row < ROW_COUNT; row++)
		CHECK_INT(l.y[row] >= 0, row != ROW_NOTICE);
	CHECK(l.body_height >= 12);
}

/* A higher screen never shows fewer rows, and never a smaller body by more than a new row. */
TEST(rows_only_come_as_the_screen_grows)
{
	for (int h = LAYOUT_MIN_HEIGHT; h < HEIGHT_MOST; h++) {
		struct layout small, large;

		layout_make(&small, 80, h, 0);
		layout_make(&large, 80, h + 1, 0);
		for (enum layout_row row = 0; row < ROW_COUNT; row++)
			CHECK(small.y[row] < 0 || large.y[row] >= 0);
		CHECK(large.body_height >= small.body_height - 1);
	}
}

TEST(too_narrow_is_tiny)
{
	struct layout l;

	for (int w = 1; w <= WIDTH_MOST; w++) {
		layout_make(&l, w, 24, 0);
		CHECK_INT(l.tiny, w < LAYOUT_MIN_WIDTH);
	}
}

static void check_columns(struct layout_kind kind)
{
	for (int w = LAYOUT_MIN_WIDTH; w <= WIDTH_MOST; w++) {
		struct layout_column c[COL_COUNT];
		unsigned n = layout_columns(w, kind, c);
		int x = 1;

		CHECK(n >= 3 || kind.hidden);
		for (unsigned i = 0; i < n; i++) {
			CHECK_INT(c[i].x, x);
			CHECK(c[i].cells >= column_table[c[i].column].cells ||
				c[i].column == COL_LINE);
			CHECK(c[i].column != COL_SITE || c[i].cells >= 14);
			x += (int)c[i].cells + 1;
		}
		CHECK_INT(x - 1, w);
	}
}

TEST(columns_fit_every_width)
{
	for (unsigned i = 0; i < 8; i++)
		check_columns((struct layout_kind){
			.sampled = i & 1, .grouped = i & 2, .retained = i & 4 });
	/* Each switched off, and all: the site stays. */
	for (unsigned i = 0; i <= COL_COUNT; i++)
		check_columns((struct layout_kind){
			.hidden = i < COL_COUNT ? UINT64_C(1) << i : UINT64_MAX });
}

static bool sampled_column(int width, bool sampled, enum column column)
{
	struct layout_column c[COL_COUNT];
	unsigned n = layout_columns(width, (struct layout_kind){ .sampled = sampled }, c);

	for (unsigned i = 0; i < n; i++)
		if (c[i].column == column)
			return true;
	return false;
}

static bool has_column(int width, enum column column)
{
	return sampled_column(width, false, column);
}

/* An estimate has its error beside it, on all but the narrowest screens; what is exact has none. */
TEST(errors_have_a_column)
{
	for (int w = LAYOUT_MIN_WIDTH; w <= WIDTH_MOST; w++) {
		CHECK(!has_column(w, COL_ERROR));
		CHECK_INT(sampled_column(w, true, COL_ERROR), w >= 48);
	}
	CHECK(sampled_column(80, true, COL_PERCENT) && sampled_column(100, true, COL_TREND));
}

TEST(columns_go_in_order)
{
	CHECK(has_column(100, COL_AVG) && has_column(100, COL_TREND) && has_column(100, COL_LINE));
	CHECK(!has_column(99, COL_AVG) && has_column(80, COL_TREND) && has_column(80, COL_PERCENT));
	CHECK(!has_column(74, COL_TREND) && has_column(74, COL_PERCENT));
	CHECK(!has_column(60, COL_PERCENT));
	CHECK(has_column(40, COL_LIVE) && has_column(40, COL_RATE) && has_column(40, COL_SITE));
	CHECK(has_column(200, COL_TEMP) && has_column(200, COL_PEAK));
}

static bool shown_in(const struct layout_column *c, unsigned n, enum column column)
{
	for (unsigned i = 0; i < n; i++)
		if (c[i].column == column)
			return true;
	return false;
}

/* What the rows are sorted by is on the screen, and the name of the call site with it. */
TEST(the_column_that_sorts_is_always_shown)
{
	for (int w = LAYOUT_MIN_WIDTH; w <= WIDTH_MOST; w++) {
		for (int c = 0; c < 2 * COL_COUNT; c++) {
			struct layout_column out[COL_COUNT];
			struct layout_kind kind = { .sort = c % COL_COUNT,
				.sampled = c >= COL_COUNT,
				.hidden = c & 1 ? UINT64_C(1) << c % COL_COUNT : 0 };
			unsigned n = layout_columns(w, kind, out);
			int x = 1;

			CHECK(shown_in(out, n, (enum column)kind.sort));
			CHECK(shown_in(out, n, COL_SITE));
			for (unsigned i = 0; i < n; i++) {
				CHECK_INT(out[i].x, x);
				CHECK(out[i].column != COL_SITE || out[i].cells >= 14);
				x += (int)out[i].cells + 1;
			}
			CHECK_INT(x - 1, w);
		}
	}
	CHECK_INT(layout_replaced(80, (struct layout_kind){ .sort = COL_TEMP }), COL_TREND);
	CHECK_INT(layout_replaced(80, (struct layout_kind){ .sort = COL_BLOCKS }), -1);
	CHECK_INT(layout_replaced(240, (struct layout_kind){ .sort = COL_TEMP }), -1);
}

/* Scrolled to the end, every column has been on the screen. */
TEST(columns_scroll_until_the_last_is_shown)
{
	for (int w = LAYOUT_MIN_WIDTH; w <= WIDTH_MOST; w++) {
		struct layout_kind kind = { .sort = COL_PEAK };
		unsigned most = layout_scroll_most(w, kind);
		uint64_t seen = 0;

		for (kind.scroll = 0; kind.scroll <= most; kind.scroll++) {
			struct layout_column out[COL_COUNT];
			unsigned n = layout_columns(w, kind, out);

			CHECK(shown_in(out, n, COL_LIVE) && shown_in(out, n, COL_PEAK));
			CHECK_INT(out[n - 1].x + (int)out[n - 1].cells, w);
			for (unsigned i = 0; i < n; i++)
				seen |= UINT64_C(1) << out[i].column;
		}
		CHECK(seen >> COL_TEMP & 1 && seen >> COL_GROWTH & 1 && seen >> COL_LINE & 1);
		CHECK(seen >> COL_AT_PEAK_SHARE & 1 && seen >> COL_AGE & 1 && seen >> COL_AVG & 1);
	}
	CHECK_INT(layout_scroll_most(240, (struct layout_kind){ 0 }), 0);
}

/* Whatever the width, a set shows its most important columns and the call site. */
TEST(sets_of_columns)
{
	for (int w = LAYOUT_MIN_WIDTH; w <= WIDTH_MOST; w++) {
		for (int set = COLUMNS_GROWTH; set < COLUMNS_SETS; set++) {
			struct layout_column out[COL_COUNT];
			struct layout_kind kind = { .set = (enum column_set)set,
				.sort = (int)column_sets[set].sort,
				.hidden = UINT64_C(1) << COL_AGE };
			unsigned n = layout_columns(w, kind, out);
			int x = 1;

			CHECK(shown_in(out, n, column_sets[set].sort));
			for (unsigned i = 0; i < n; i++) {
				CHECK_INT(out[i].x, x);
				CHECK(out[i].column != COL_SITE || out[i].cells >= 14);
				x += (int)out[i].cells + 1;
			}
			CHECK_INT(x - 1, w);
			for (unsigned i = 0; w >= 160 && i < column_sets[set].count; i++)
				CHECK(shown_in(out, n, column_sets[set].column[i]) ||
					column_sets[set].column[i] == COL_SINCE ||
					column_sets[set].column[i] == COL_SINCE_BLOCKS ||
					column_sets[set].column[i] == COL_KEPT);
		}
	}
}

TEST(order_and_widths_are_the_users)
{
	struct layout_look look = { .ordered = true,
		.cells = { [COL_LINE] = 40, [COL_RATE] = 12 } };
	struct layout_column out[COL_COUNT];
	unsigned n;

	for (unsigned i = 0; i < COL_COUNT; i++)
		look.order[i] = (unsigned char)layout_usual(COL_COUNT - 1 - i);
	n = layout_columns(200, (struct layout_kind){ .look = &look }, out);
	CHECK_INT(out[0].column, COL_LINE);
	CHECK_INT(out[0].cells, 40);
	CHECK_INT(out[n - 1].column, COL_LIVE);
	CHECK_INT(out[n - 1].x + (int)out[n - 1].cells, 200);
	for (unsigned i = 0; i < n; i++)
		CHECK(out[i].column != COL_RATE || out[i].cells == 12);
	/* Too wide for the screen: other columns go, the site's name does not. */
	look.cells[COL_RATE] = 60;
	n = layout_columns(80, (struct layout_kind){ .look = &look }, out);
	for (unsigned i = 0; i < n; i++)
		CHECK(out[i].column != COL_SITE || out[i].cells >= 14);
	CHECK(shown_in(out, n, COL_SITE) && shown_in(out, n, COL_LIVE));
	CHECK_INT(layout_next((struct layout_kind){ .look = &look }, -1), COL_PERCENT);
	CHECK_INT(layout_next((struct layout_kind){ .sort = COL_LINE }, 1), -1);
	CHECK_INT(layout_next((struct layout_kind){ .sort = COL_AVG }, 1), COL_PEAK);
}

int main(void)
{
	RUN(rows_fill_the_screen_and_never_overlap);
	RUN(body_message_and_tabs_are_always_there);
	RUN(full_from_80x24);
	RUN(rows_only_come_as_the_screen_grows);
	RUN(too_narrow_is_tiny);
	RUN(columns_fit_every_width);
	RUN(errors_have_a_column);
	RUN(columns_go_in_order);
	RUN(the_column_that_sorts_is_always_shown);
	RUN(columns_scroll_until_the_last_is_shown);
	RUN(sets_of_columns);
	RUN(order_and_widths_are_the_users);
	return check_end();
}
