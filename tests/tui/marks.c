/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks on the screen: taking, naming and choosing them, and what the columns then count. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(void)
{
	paper_open(&p, 30, 120, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

static void seconds(int n)
{
	for (int i = 0; i < n; i++)
		refresh_tick(&p.ui);
}

TEST(m_marks_at_once_and_then_asks_for_a_name)
{
	begin();
	CHECK(!sees("SINCE"));
	paper_keys(&p, "m");
	CHECK_INT(p.canned.moments.count, 1); /* however long the name takes to type */
	CHECK(sees("name (Enter: none):"));
	paper_keys(&p, "warm-up\r");
	CHECK_STR(p.canned.moments.last->name, "warm-up");
	CHECK(sees("SINCE") && sees("KEPT") && sees("since mark 1 (warm-up)"));
	/* On a narrow screen the status line has the name. */
	paper_resize(&p, 24, 80);
	CHECK(!sees("since mark 1 (") && sees("   SINCE: mark 1 (warm-up)"));
	paper_resize(&p, 30, 100);
	CHECK(!sees("SINCE: "));
	seconds(10);
	/* Ten and some seconds of 1.1 MB/s. */
	CHECK(sees("+11.5M") || sees("+12.6M"));
	/* Esc leaves out the name and not the mark. */
	paper_keys(&p, "m");
	screen_key(&p.ui, KEY_ESC);
	CHECK_INT(p.canned.moments.count, 2);
	CHECK_STR(p.canned.moments.last->name, "");
	CHECK(sees("since mark 1"));
	paper_close(&p);
}

TEST(b_counts_from_now_and_B_from_nothing)
{
	begin();
	paper_keys(&p, "m\r");
	seconds(20);
	paper_keys(&p, "b");
	CHECK_INT(p.canned.moments.count, 2);
	CHECK(sees("since mark 2") && sees("count from mark 2 to now"));
	paper_keys(&p, "B");
	CHECK(!sees("SINCE") && !sees("since mark"));
	CHECK_INT(p.canned.moments.count, 2);
	paper_close(&p);
}

/* No order by a column that is not there. */
TEST(the_order_since_a_mark_ends_with_it)
{
	begin();
	paper_keys(&p, "b`\r");
	CHECK_INT(p.ui.sort, COL_SINCE);
	CHECK(sees("sort SINCE"));
	paper_keys(&p, "B");
	CHECK(!sees("SINCE") && sees("sort LIVE"));
	/* Another order stays. */
	paper_keys(&p, "b5B");
	CHECK(sees("sort BLOCKS"));
	paper_close(&p);
}

TEST(any_two_marks_are_compared)
{
	begin();
	for (int i = 0; i < 3; i++) {
		paper_keys(&p, "m\r");
		seconds(10);
	}
	paper_keys(&p, "`");
	CHECK(sees("[Sites > Marks]") && sees("now to"));
	CHECK(sees("what is still alive")); /* the end of the line that explains them */
	/* The cursor is on now; what comes later than what is counted from can be counted to. */
	paper_keys(&p, "kkb");
	CHECK(sees("2 from"));
	paper_keys(&p, "ke");
	CHECK(sees("not after mark 2"));
	paper_keys(&p, "jje");
	CHECK(sees("3 to") && sees("from mark 2 to mark 3"));
	CHECK_INT(p.canned.since, 2);
	CHECK_INT(p.canned.until, 3);
	paper_keys(&p, "\r");
	CHECK(sees("SINCE▼") && sees("mark 2 to mark 3"));
	CHECK_INT(p.ui.rows->sites[p.ui.sites.order[0]].id, 17);
	paper_keys(&p, "\r");
	CHECK(sees("SITE 17") && sees("since mark 2: +11.") && sees("new blocks alive"));
	paper_close(&p);
}

/* New marks come behind the one under the cursor, which is one mark and not a line. */
TEST(the_selection_is_a_mark)
{
	begin();
	for (int i = 0; i < 40; i++)
		paper_keys(&p, "m\r");
	paper_keys(&p, "`");
	CHECK_INT(p.ui.marks.selected, 0);
	paper_keys(&p, "kkk");
	CHECK_INT(p.ui.marks.selected, 38);
	paper_keys(&p, "m\r");
	CHECK_INT(p.ui.marks.selected, 38);
	paper_keys(&p, "gg");
	CHECK_INT(p.ui.marks.selected, 1);
	seconds(1);
	CHECK_INT(p.ui.marks.selected, 1);
	paper_keys(&p, "/now\r");
	CHECK_INT(p.ui.marks.selected, 0);
	paper_close(&p);
}

/* The marks are not frozen with the rows. */
TEST(a_mark_set_while_the_rows_are_frozen_has_a_line)
{
	begin();
	paper_keys(&p, "m\r `");
	CHECK(p.ui.frozen);
	CHECK_INT(p.ui.marks.list.count, 2);
	paper_keys(&p, "m\r");
	CHECK_INT(p.ui.marks.list.count, 3);
	CHECK_INT(p.ui.marks.selected, 0);
	paper_keys(&p, "gg");
	CHECK_INT(p.ui.marks.selected, 1);
	paper_keys(&p, "j");
	CHECK_INT(p.ui.marks.selected, 2);
	paper_close(&p);
}

/* The new image has no marks, also while the rows are frozen at the old one. */
TEST(exec_ends_the_marks_of_frozen_rows)
{
	static int images[2];
	struct mark_list old;

	begin();
	p.canned.image = &images[0];
	seconds(1);
	paper_keys(&p, "m\rm\r `kk");
	CHECK_INT(p.ui.marks.selected, 1);
	old = p.canned.moments;
	p.canned.moments = (struct mark_list){ 0 };
	p.canned.since = p.canned.until = 0;
	p.canned.image = &images[1];
	seconds(1);
	CHECK_INT(p.ui.marks.list.count, 1);
	CHECK(sees("no marks yet"));
	paper_keys(&p, "kj");
	CHECK_INT(p.ui.marks.selected, 0);
	p.canned.moments = old; /* the frozen rows count from them */
	paper_close(&p);
}

/* Its first mark is not the one that the prompt asks a name for. */
TEST(exec_ends_a_mark_that_is_being_named)
{
	static int images[2];

	begin();
	p.canned.image = &images[0];
	seconds(1);
	paper_keys(&p, "mwar");
	p.canned.image = &images[1];
	seconds(1);
	paper_keys(&p, "m\r");
	CHECK(sees("not named: the program has called exec"));
	CHECK_STR(p.ui.current->moments->name, "");
	paper_close(&p);
}

TEST(read_only_nothing_is_marked)
{
	begin();
	p.ui.options.readonly = true;
	paper_keys(&p, "m`b");
	CHECK(sees("not marked: heaptop was started"));
	CHECK_INT(p.canned.moments.count, 0);
	paper_close(&p);
}

TEST(where_nothing_runs_nothing_is_marked)
{
	begin();
	p.source.mark = NULL;
	paper_keys(&p, "m");
	CHECK(sees("not marked: no program is running"));
	CHECK(!p.ui.prompt.open);
	paper_keys(&p, "`");
	CHECK(sees("no marks yet"));
	paper_keys(&p, "e");
	CHECK(sees("first choose a mark"));
	paper_keys(&p, "b\r");
	CHECK_INT(p.canned.moments.count, 0);
	paper_close(&p);
}

/* A report or a diff: its source marks nothing, and has no marks to choose from. */
TEST(a_single_moment_has_no_marks_to_choose_from)
{
	begin();
	p.source.mark = NULL;
	p.source.since = NULL;
	paper_keys(&p, "B");
	CHECK(sees("no mark to count from: a single moment is shown"));
	paper_keys(&p, "b");
	CHECK(sees("not marked: no program is running"));
	paper_keys(&p, "`B");
	CHECK(sees("no mark to count from"));
	CHECK(ui_view(&p.ui) == view_table[VIEW_MARKS]);
	paper_close(&p);
}

int main(void)
{
	RUN(m_marks_at_once_and_then_asks_for_a_name);
	RUN(b_counts_from_now_and_B_from_nothing);
	RUN(the_order_since_a_mark_ends_with_it);
	RUN(any_two_marks_are_compared);
	RUN(the_selection_is_a_mark);
	RUN(a_mark_set_while_the_rows_are_frozen_has_a_line);
	RUN(exec_ends_the_marks_of_frozen_rows);
	RUN(exec_ends_a_mark_that_is_being_named);
	RUN(read_only_nothing_is_marked);
	RUN(where_nothing_runs_nothing_is_marked);
	RUN(a_single_moment_has_no_marks_to_choose_from);
	return check_end();
}
