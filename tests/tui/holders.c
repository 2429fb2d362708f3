/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds the heap: its tree, from scan to scan, and the ways from it. */
#include "tests/check.h"
#include "tests/tui/alike.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(void)
{
	paper_open(&p, 30, 110, false);
	refresh_tick(&p.ui);
	paper_keys(&p, "O");
	paper_draw(&p);
}

static void scan(void)
{
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

/* A scan stops the program for a moment, which --readonly does not. */
TEST(readonly_does_not_scan)
{
	paper_open(&p, 30, 100, false);
	p.ui.options.readonly = true;
	refresh_tick(&p.ui);
	paper_keys(&p, "O");
	CHECK(ui_view(&p.ui) == view_table[VIEW_HOLDERS]);
	CHECK(sees("not scanned yet") && !sees("a scan is running"));
	paper_close(&p);
}

TEST(roots_open_to_what_they_hold)
{
	begin();
	CHECK(sees("a scan is running") && !sees("not scanned yet"));
	scan();
	CHECK(ui_view(&p.ui) == view_table[VIEW_HOLDERS]);
	CHECK(sees(" ago; now ") && sees("(L scans again)"));
	paper_keys(&p, "OO"); /* the scan that was made is enough */
	CHECK(!sees("a scan is running"));
	CHECK(sees("190.7M") && sees("+ quotes (server.c:12)") && sees("shared by several roots"));
	CHECK(!sees("cache::Shard::insert") && p.ui.holders.list.count == 3);
	paper_keys(&p, "\r");
	CHECK(sees("- quotes (server.c:12)") && sees("+ cache::Shard::insert"));
	paper_keys(&p, "ll"); /* to the first child, and open it */
	CHECK_INT(p.ui.holders.list.count, 5);
	CHECK(sees("http::Conn::Conn"));
	/* The next scan finds the same lines open. */
	scan();
	CHECK_INT(p.ui.holders.list.count, 5);
	paper_keys(&p, "hh"); /* closes it, and goes to the root */
	CHECK_INT(p.ui.holders.list.count, 4);
	CHECK_INT(p.ui.holders.list.cursor, 0);
	paper_keys(&p, "h");
	CHECK_INT(p.ui.holders.list.count, 3);
	paper_keys(&p, "O");
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	paper_close(&p);
}

TEST(enter_leads_to_the_call_site_and_back)
{
	begin();
	scan();
	paper_keys(&p, "\rj\r");
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL] && p.ui.detail.site == 17);
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_HOLDERS]);
	CHECK_INT(p.ui.holders.list.cursor, 1);
	paper_close(&p);
}

TEST(a_result_without_them_says_why)
{
	begin();
	scan();
	p.canned.leaks.result.no_holders = "too many words of roots point to blocks";
	p.canned.leaks.result.nholders = 0;
	p.canned.leaks.state.version++;
	CHECK(sees("too many words of roots"));
	paper_keys(&p, "j\rlh");
	CHECK_INT(p.ui.holders.list.count, 0);
	paper_close(&p);
}

/* Here, and where contents of blocks are compared. */
TEST(call_sites_of_one_name_say_what_differs)
{
	alike[0] = 17, alike[1] = 18;
	paper_open(&p, 30, 110, false);
	p.source.tick = alike_tick;
	refresh_tick(&p.ui);
	paper_keys(&p, "O");
	scan();
	paper_keys(&p, "\rll");
	CHECK(sees("open_one ‹make_shared<Conn>›  conn.cc:88"));
	CHECK(sees("open_one ‹make_shared<Session>›  conn.cc:88"));
	paper_keys(&p, "OU");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	CHECK(sees("COPIES"));
	CHECK(sees("open_one ‹make_shared<Conn>›  conn.cc:88"));
	CHECK(sees("open_one ‹make_shared<Session>›  conn.cc:88"));
	paper_close(&p);
	alike[0] = alike[1] = 0;
}

int main(void)
{
	RUN(readonly_does_not_scan);
	RUN(roots_open_to_what_they_hold);
	RUN(enter_leads_to_the_call_site_and_back);
	RUN(a_result_without_them_says_why);
	RUN(call_sites_of_one_name_say_what_differs);
	return check_end();
}
