/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cursor and window of a list, and the fitting of a line of facts. */
#include "tests/check.h"
#include "tui/draw.h"
#include "tui/infoline.h"
#include "tui/list.h"

static struct list of(size_t count, size_t height)
{
	struct list l = { 0 };

	list_resize(&l, height);
	list_recount(&l, count);
	return l;
}

TEST(motions_stay_in_range)
{
	struct list l = of(100, 10);

	list_go(&l, LIST_UP);
	CHECK_INT(l.cursor, 0);
	list_go(&l, LIST_PAGE_DOWN);
	CHECK_INT(l.cursor, 10);
	list_go(&l, LIST_HALF_DOWN);
	CHECK_INT(l.cursor, 15);
	list_go(&l, LIST_END);
	CHECK_INT(l.cursor, 99);
	CHECK_INT(l.top, 90);
	CHECK(list_at_end(&l));
	list_go(&l, LIST_DOWN);
	CHECK_INT(l.cursor, 99);
	list_go(&l, LIST_HOME);
	CHECK_INT(l.cursor, 0);
	CHECK_INT(l.top, 0);
}

TEST(the_first_rows_are_shown_again)
{
	struct list l = of(100, 10);

	list_select(&l, 50);
	list_go(&l, LIST_DOWN);
	list_rise(&l);
	list_follow(&l, 7);
	CHECK_INT(l.top, 0);
	CHECK_INT(l.cursor, 7);
	list_rise(&l);
	list_follow(&l, 30);
	CHECK_INT(l.top, 21);
	list_select(&l, l.cursor); /* and keeps its line after that */
	list_follow(&l, 40);
	CHECK_INT(l.top, 31);
}

TEST(empty_and_one_row)
{
	struct list l = of(0, 10);

	for (enum list_motion m = LIST_UP; m <= LIST_WHEEL_DOWN; m++)
		list_go(&l, m);
	CHECK_INT(l.cursor, 0);
	CHECK_INT(l.top, 0);
	l = of(1, 10);
	for (enum list_motion m = LIST_UP; m <= LIST_WHEEL_DOWN; m++)
		list_go(&l, m);
	CHECK_INT(l.cursor, 0);
}

TEST(cursor_stays_in_sight_when_the_window_shrinks)
{
	struct list l = of(100, 20);

	list_select(&l, 18);
	list_resize(&l, 5);
	CHECK(l.cursor >= l.top && l.cursor < l.top + 5);
	CHECK_INT(l.cursor, 18);
	list_recount(&l, 3);
	CHECK_INT(l.cursor, 2);
	CHECK_INT(l.top, 0);
}

TEST(follow_keeps_the_line)
{
	struct list l = of(1000, 20);

	list_select(&l, 500);
	list_go(&l, LIST_UP);
	list_go(&l, LIST_UP);
	CHECK_INT(l.cursor - l.top, 17);
	list_follow(&l, 700);
	CHECK_INT(l.cursor, 700);
	CHECK_INT(l.cursor - l.top, 17);
	/* At the ends the list cannot scroll further, and the line gives way. */
	list_follow(&l, 3);
	CHECK_INT(l.top, 0);
	CHECK_INT(l.cursor, 3);
	/* ... but it is not forgotten. */
	list_follow(&l, 600);
	CHECK_INT(l.cursor - l.top, 17);
}

TEST(text_scrolls_without_a_cursor)
{
	struct list l = { .scroll_only = true };

	list_resize(&l, 10);
	list_recount(&l, 25);
	list_go(&l, LIST_DOWN);
	CHECK_INT(l.top, 1);
	list_go(&l, LIST_END);
	CHECK_INT(l.top, 15);
	CHECK(list_at_end(&l));
	list_go(&l, LIST_WHEEL_UP);
	CHECK_INT(l.top, 12);
}

TEST(infoline_never_takes_more_than_it_has)
{
	for (unsigned cells = 0; cells < 120; cells++) {
		struct infoline s = INFOLINE_INIT;

		infoline_left(&s, 3, STYLE_PLAIN, "first fact");
		infoline_left(&s, 9, STYLE_PLAIN, "a fact that may be cut");
		infoline_elastic(&s, 5);
		infoline_left(&s, 5, STYLE_PLAIN, "label");
		infoline_join(&s, STYLE_PLAIN, ": its value");
		infoline_right(&s, 7, STYLE_PLAIN, "at the right");
		CHECK(infoline_fit(&s, cells) <= cells);
		CHECK_INT(s.item[1].dropped, cells < 5);
		CHECK_INT(s.item[2].dropped, s.item[3].dropped);
	}
}

TEST(infoline_drops_by_rank)
{
	struct infoline s = INFOLINE_INIT;

	infoline_left(&s, 1, STYLE_PLAIN, "low");
	infoline_left(&s, 3, STYLE_PLAIN, "high");
	infoline_left(&s, 2, STYLE_PLAIN, "middle");
	CHECK_INT(infoline_fit(&s, 13), 12);
	CHECK(s.item[0].dropped && !s.item[1].dropped && !s.item[2].dropped);
}

int main(void)
{
	RUN(motions_stay_in_range);
	RUN(the_first_rows_are_shown_again);
	RUN(empty_and_one_row);
	RUN(cursor_stays_in_sight_when_the_window_shrinks);
	RUN(follow_keeps_the_line);
	RUN(text_scrolls_without_a_cursor);
	RUN(infoline_never_takes_more_than_it_has);
	RUN(infoline_drops_by_rank);
	return check_end();
}
