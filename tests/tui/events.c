/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live tail of one call site. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "j\r");
	p.canned.events = 12;
	paper_keys(&p, "E");
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

TEST(lines_of_the_site)
{
	begin(30, 100);
	CHECK_INT(p.canned.followed, 17);
	CHECK(sees("Site detail > Events]") && sees("cache::Shard::insert"));
	CHECK(sees("TIME") && sees("THREAD") && sees("SIZE") && sees("ADDRESS") && sees("FREED"));
	/* Freed at once, by its thread; after a second, by another one; and not. */
	CHECK(sees("12:41.2500  4212 parser") && sees("25  0x7f12a40c5000  ~0us"));
	CHECK(sees("36  0x7f12a40c6000  1.0s by 4213 writer") || sees("1s by 4213 writer"));
	CHECK(sees("49  0x7f12a40c7000  live"));
	CHECK(sees("12 allocations, 6 of the last 12 live   following the end"));
	paper_keys(&p, "/0c7000\r");
	CHECK(!sees("not found"));
	paper_close(&p);
}

TEST(it_follows_the_end_and_can_be_held)
{
	begin(24, 80);
	p.canned.events = 60;
	CHECK(sees("12:55.0000") && !sees("12:42.0000"));
	paper_keys(&p, "k");
	CHECK(sees("held; Space or G follows again"));
	p.canned.events = 260;
	CHECK(sees("60 allocations") && sees("12:54.7500") && !sees("13:45.0000"));
	paper_keys(&p, "G");
	CHECK(sees("260 allocations") && sees("13:45.0000") && sees("following the end"));
	paper_keys(&p, " ");
	p.canned.events = 300;
	CHECK(sees("260 allocations") && sees("13:45.0000") && sees("follow"));
	paper_keys(&p, " ");
	CHECK(sees("300 allocations") && sees("13:55.0000"));
	paper_close(&p);
}

TEST(what_was_missed_is_said)
{
	begin(24, 80);
	CHECK(!sees("missed"));
	p.canned.missed = 4321;
	CHECK(sees("4,321 events missed"));
	paper_close(&p);
}

TEST(narrow_screens_drop_columns)
{
	static const int widths[] = { 40, 56, 68, 80, 200 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		begin(24, widths[i]);
		CHECK(sees("12:43.0000"));
		CHECK(sees("144") && sees("FREED AFTER"));
		CHECK(sees("0x7f12a40cc000") == (widths[i] >= 56));
		CHECK(sees("4212 parser") == (widths[i] >= 80));
		CHECK(sees("4212") == (widths[i] >= 68));
		paper_close(&p);
	}
}

/* Nobody reads any more: the program need not write events. */
TEST(leaving_stops_it)
{
	static const char *const ways[] = { "q", "\x1b" };

	for (size_t i = 0; i < 2; i++) {
		begin(24, 80);
		paper_keys(&p, ways[i]);
		CHECK_INT(p.canned.followed, 0);
		CHECK(sees("SITE 17"));
		paper_close(&p);
	}
	begin(24, 80);
	ui_tab(&p.ui, VIEW_TREE);
	CHECK_INT(p.canned.followed, 0);
	paper_close(&p);
	begin(24, 80);
	p.canned.image = &p; /* it called exec */
	refresh_tick(&p.ui);
	CHECK_INT(p.canned.followed, 0);
	CHECK(!sees("Events"));
	paper_close(&p);
}

TEST(help_in_between_does_not_stop_it)
{
	begin(24, 80);
	paper_keys(&p, "?");
	CHECK_INT(p.canned.followed, 17);
	paper_keys(&p, "q");
	p.canned.events = 13;
	CHECK(sees("13 allocations"));
	paper_close(&p);
}

TEST(refusals)
{
	paper_open(&p, 24, 80, false);
	refresh_tick(&p.ui);
	p.canned.error = "too much";
	paper_keys(&p, "j\rE");
	CHECK(sees("cannot follow events: too much") && !sees("> Events]"));
	p.canned.error = NULL;
	p.canned.past = true;
	refresh_tick(&p.ui);
	paper_keys(&p, ",E");
	CHECK(sees("as they happen; F returns") && !sees("> Events]") && p.canned.followed == 0);
	paper_keys(&p, "F");
	p.canned.state = SNAP_EXITED;
	refresh_tick(&p.ui);
	paper_keys(&p, "E");
	CHECK(sees("no running program to follow events of") && !sees("E events"));
	paper_close(&p);

	begin(24, 80);
	p.canned.events = 0;
	CHECK(sees("waiting for the next allocation"));
	p.canned.state = SNAP_EXITED;
	refresh_tick(&p.ui);
	CHECK(sees("the program has ended"));
	paper_close(&p);
}

TEST(why_no_more_are_read)
{
	begin(24, 120);
	p.canned.events_end = "cannot follow events: too much";
	CHECK(sees("live   no more can be read   cannot follow events: too much"));
	paper_keys(&p, " ");
	CHECK(sees("held") && !sees("too much"));
	paper_close(&p);
	/* There is no room for it. */
	begin(24, 80);
	p.canned.events_end = "cannot follow events: too much";
	CHECK(sees("live   no more can be read") && !sees("too much"));
	p.canned.events = 0;
	CHECK(sees("cannot follow events: too much") && !sees("waiting"));
	paper_close(&p);
}

TEST(readonly_does_not_ask_the_program)
{
	paper_open(&p, 24, 80, false);
	p.ui.options.readonly = true;
	refresh_tick(&p.ui);
	paper_keys(&p, "j\r");
	CHECK(!sees("E events"));
	paper_keys(&p, "E");
	CHECK(sees("E is refused: heaptop was started with --readonly"));
	CHECK_INT(p.canned.followed, 0);
	paper_close(&p);
}

int main(void)
{
	RUN(lines_of_the_site);
	RUN(it_follows_the_end_and_can_be_held);
	RUN(what_was_missed_is_said);
	RUN(narrow_screens_drop_columns);
	RUN(leaving_stops_it);
	RUN(help_in_between_does_not_stop_it);
	RUN(refusals);
	RUN(why_no_more_are_read);
	RUN(readonly_does_not_ask_the_program);
	return check_end();
}
