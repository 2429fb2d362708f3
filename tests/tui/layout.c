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
	for (unsigned i = 0; i < 4; i++)
		check_columns((struct layout_kind){ .sampled = i & 1, .grouped = i & 2 });
	/* Each switched off, and all: the site stays. */
	for (unsigned i = 0; i <= COL_COUNT; i++)
		check_columns((struct layout_kind){ .hidden = i < COL_COUNT ? 1u << i : ~0u });
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
	return check_end();
}
