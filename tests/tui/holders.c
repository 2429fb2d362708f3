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

/* The scan that was begun finds these. */
static void scan_finds(const struct snap_holder *holders, size_t n)
{
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	p.canned.leaks.result.holders = n ? holders : NULL;
	p.canned.leaks.result.nholders = n;
	refresh_tick(&p.ui);
	paper_draw(&p);
}

TEST(the_cursor_stays_on_its_line)
{
	static const struct snap_holder next[] = {
		{ UINT32_MAX, 0, "index (server.c:9)", 0, { 0, 0 }, { 1, 300000000 } },
		{ UINT32_MAX, 0, "index (server.c:9)", 0, { 0, 0 }, { 1, 290000000 } },
		{ UINT32_MAX, 0, "quotes (server.c:12)", 0, { 0, 0 }, { 97000, 200000000 } },
		{ 2, 1, NULL, 17, { 96593, 96400000 }, { 97000, 200000000 } },
	};

	begin();
	scan();
	scan_finds(next, 4);
	CHECK_INT(p.ui.holders.list.cursor, 0); /* which was not moved yet */
	scan();
	paper_keys(&p, "jk");
	scan_finds(next, 4);
	CHECK_INT(p.ui.holders.list.cursor, 2);
	/* A scan without a result in between changes nothing. */
	scan_finds(next, 0);
	CHECK_INT(p.ui.holders.list.count, 0);
	scan();
	CHECK_INT(p.ui.holders.list.cursor, 0);
	/* A line below a root. */
	paper_keys(&p, "\rj");
	scan_finds(next, 4);
	CHECK_INT(p.ui.holders.list.cursor, 3);
	/* One of two roots with the same name. */
	paper_keys(&p, "kk");
	scan_finds(next, 4);
	CHECK_INT(p.ui.holders.list.cursor, 1);
	paper_close(&p);
}

TEST(the_cursor_of_contents_stays_on_its_call_site)
{
	static const struct snap_contents next[] = {
		{ 17, { 96593, 96400000 }, { 9000, 90000000 }, { 0, 0 }, { 0, 0 } },
		{ 18, { 22000, 100000000 }, { 4, 4000000 }, { 0, 0 }, { 44000, 35000000 } },
	};

	begin();
	scan();
	paper_keys(&p, "OU");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_keys(&p, "jU");
	CHECK_INT(p.ui.contents.list.cursor, 1);
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	p.canned.leaks.result.contents = next;
	p.canned.leaks.result.ncontents = 2;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.contents.list.cursor, 0);
	paper_keys(&p, "\r");
	CHECK_INT(p.ui.detail.site, 17);
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
	RUN(the_cursor_stays_on_its_line);
	RUN(the_cursor_of_contents_stays_on_its_call_site);
	RUN(call_sites_of_one_name_say_what_differs);
	return check_end();
}
