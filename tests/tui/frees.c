/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of wrong frees, and the stacks of one. */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/view_frees.h"

static struct paper p;

static void begin(unsigned rows)
{
	paper_open(&p, 40, 110, false);
	p.canned.wrong = rows;
	refresh_tick(&p.ui);
	paper_keys(&p, "w");
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

TEST(rows)
{
	begin(3);
	CHECK(sees("Wrong frees") && sees("COUNT") && sees("KIND") && sees("BYTES"));
	CHECK(sees("12 mismatched   3.1k free in http::Conn::Conn"));
	CHECK(sees("; operator new[] in session::Store::touch"));
	CHECK(sees(" 2 sized         512 operator delete in cache::Shard::insert"));
	CHECK(sees(" 1 unknown         0 free in arena_new"));
	CHECK(sees(
		"1 of no block or freed twice   14 by the wrong function or with the wrong size"));
	paper_keys(&p, "w");
	CHECK(!sees("mismatched"));
	paper_close(&p);
}

TEST(enter_lists_both_stacks)
{
	begin(3);
	paper_keys(&p, "j\r");
	CHECK(sees("sized: 2 blocks, 512 bytes, freed by operator delete as one of 320 bytes, the "
		   "last"));
	CHECK(sees("cache.cc:97") && sees("hyo.cc:7") && !sees("conn.cc:88"));
	CHECK(sees("freed") && sees("allocated"));
	/* Of another row. */
	paper_keys(&p, "k\r");
	CHECK(sees("conn.cc:88") && sees("session.cc:133") && !sees("cache.cc:97"));
	/* From a line below a row: hides them, and the cursor is on the row. */
	paper_keys(&p, "jjj\r");
	CHECK(!sees("conn.cc:88"));
	CHECK_INT(p.ui.frees.list.cursor, 0);
	paper_close(&p);
}

TEST(unknown_blocks_have_no_stack)
{
	begin(3);
	paper_keys(&p, "G\r");
	CHECK(sees("unknown: 1 x free of 0x7ffc1230, never a block") && sees("arena.c:118"));
	CHECK(sees("(the stack is not known)"));
	paper_close(&p);
}

TEST(a_block_freed_twice_has_three_stacks)
{
	begin(4);
	paper_keys(&p, "G\r");
	CHECK(sees("double: 1 x free of a block freed before") && sees("freed before"));
	CHECK(sees("cache.cc:97") && sees("hyo.cc:7") && sees("conn.cc:88"));
	CHECK(paper_find(&p, "cache.cc:97") < paper_find(&p, "conn.cc:88"));
	CHECK(paper_find(&p, "conn.cc:88") < paper_find(&p, "hyo.cc:7"));
	paper_close(&p);
}

TEST(the_rows_may_change_under_it)
{
	begin(3);
	paper_keys(&p, "G\rG");
	p.canned.wrong = 1;
	refresh_tick(&p.ui);
	CHECK(sees("mismatched") && !sees("unknown:"));
	p.canned.wrong = 0;
	refresh_tick(&p.ui);
	CHECK(sees("no wrong frees"));
	paper_keys(&p, "\rjk");
	CHECK(sees("no wrong frees"));
	paper_close(&p);
}

static bool is_reversed;

/* The rows are sorted by count, which changes. */
static struct snapshot *reversing_tick(void *ctx, const char **error)
{
	static struct snap_wrong_free rows[CANNED_WRONG];
	struct snapshot *s = canned_tick(ctx, error);

	for (size_t i = 0; i < s->nwrong; i++)
		rows[is_reversed ? s->nwrong - 1 - i : i] = s->wrong[i];
	s->wrong = rows;
	return s;
}

TEST(the_cursor_stays_on_its_row)
{
	begin(3);
	p.source.tick = reversing_tick;
	is_reversed = true;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.frees.list.cursor, 0); /* which was not moved yet */
	paper_keys(&p, "G");
	is_reversed = false;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.frees.list.cursor, 0);
	/* On a line below its row, too, and while the other views are frozen. */
	paper_keys(&p, "\rjj");
	refresh_freeze(&p.ui, true);
	is_reversed = true;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.frees.list.cursor, 4);
	CHECK(view_frees_is_open(&p.ui));
	paper_keys(&p, "\r");
	CHECK_INT(p.ui.frees.list.cursor, 2);
	CHECK_INT(p.ui.frees.list.count, 3);
	/* A moment without rows in between changes nothing. */
	p.canned.wrong = 0;
	refresh_tick(&p.ui);
	p.canned.wrong = 3;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.frees.list.cursor, 2);
	is_reversed = false;
	paper_close(&p);
}

TEST(search)
{
	begin(3);
	paper_keys(&p, "/arena\r");
	CHECK(!sees("not found"));
	CHECK_INT(p.ui.frees.list.cursor, 2);
	paper_close(&p);
}

int main(void)
{
	RUN(rows);
	RUN(enter_lists_both_stacks);
	RUN(unknown_blocks_have_no_stack);
	RUN(a_block_freed_twice_has_three_stacks);
	RUN(the_rows_may_change_under_it);
	RUN(the_cursor_stays_on_its_row);
	RUN(search);
	return check_end();
}
