/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Leaks: scanning, ending a scan, choosing kinds, suppressing, and what is told of a row. */
#include "tests/check.h"
#include "tests/tui/paper.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	ui_tick(&p.ui);
}

static void scan(void)
{
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	ui_tick(&p.ui);
	paper_draw(&p);
}

static bool sees(const char *what)
{
	paper_draw(&p);
	return paper_find(&p, what) >= 0;
}

TEST(l_scans_from_everywhere_and_esc_ends_it)
{
	begin(30, 100);
	paper_keys(&p, "\r"); /* from the detail, too */
	paper_keys(&p, "L");
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS]);
	CHECK(sees("reading: 340.0M of 740.0M at most") && sees("Esc ends it"));
	paper_keys(&p, "L");
	CHECK(sees("a scan is under way; Esc ends it"));
	ui_key(&p.ui, UI_KEY_ESC);
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	CHECK(sees("the scan is ended"));
	CHECK(sees("L scans for leaks"));
	/* Only then is Esc the way back again. */
	ui_key(&p.ui, UI_KEY_ESC);
	CHECK(sees("nothing to go back from"));
	paper_close(&p);
}

TEST(a_refusal_is_told)
{
	begin(30, 100);
	ui_tab(&p.ui, VIEW_LEAKS);
	p.canned.leaks.state.failed = "4211 cannot be scanned: it is traced by 99";
	CHECK(sees("cannot be scanned: it is traced by 99"));
	paper_close(&p);
	begin(30, 100);
	p.ui.options.readonly = true;
	paper_keys(&p, "L");
	CHECK(sees("refused: heaptop was started with --readonly"));
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	paper_close(&p);
	begin(30, 100);
	p.source.leaks = NULL;
	paper_keys(&p, "L");
	CHECK(sees("no running program to scan"));
	CHECK(!sees("Leaks "));
	paper_close(&p);
}

TEST(rows_are_the_lost_ones_and_since_the_scan_before)
{
	begin(40, 120);
	scan();
	CHECK_INT(p.ui.leaks.list.count, 5);
	CHECK(sees("definite 1.7M in 22,072   indirect 4.0k in 12   possible 204.1k in 330"));
	CHECK(sees("stood still 21ms") && sees("scan 1, ") && sees("medium"));
	CHECK(!sees("high"));
	scan();
	CHECK(sees("high") && sees("medium") && sees("low") && sees("+2.0k") && sees("new"));
	paper_keys(&p, "j2"); /* the second stays selected */
	CHECK_INT(p.ui.leaks.row[p.ui.leaks.list.cursor].leak->site, 22);
	paper_keys(&p, "2");
	CHECK_INT(p.ui.leaks.row[p.ui.leaks.list.cursor].leak->site, 22);
	CHECK(sees(">definite"));
	paper_close(&p);
}

TEST(k_chooses_kinds)
{
	static const size_t rows[] = { 3, 1, 1, 2, 0, 7, 5 };

	begin(40, 120);
	scan();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		paper_keys(&p, "K");
		CHECK_INT(p.ui.leaks.list.count, rows[i]);
		paper_draw(&p);
	}
	paper_keys(&p, "KKKKK");
	CHECK(sees("none of the kind that is shown"));
	paper_close(&p);
}

TEST(what_is_suppressed_is_gone_and_can_be_seen)
{
	begin(40, 120);
	scan();
	paper_keys(&p, "!");
	CHECK_INT(p.ui.leaks.list.count, 4);
	CHECK(sees("leak:^f$  for now") && sees("suppressed 1.3M in 21,870"));
	paper_keys(&p, "KKKKK");
	CHECK_INT(p.ui.leaks.list.count, 1);
	CHECK(sees("Suppressed: not counted in its class"));
	paper_close(&p);
}

TEST(why_tells_who_points_to_it)
{
	begin(40, 120);
	scan();
	CHECK(sees("WHY http::Conn::Conn") && sees("No root, stack, register or reachable block"));
	CHECK(sees("With them is lost what only they point to: 12 blocks, 4.0k."));
	paper_keys(&p, "KKKKK"); /* all */
	paper_keys(&p, "KG\r");
	CHECK(ui_view(&p.ui) == view_table[VIEW_WHY]);
	CHECK(sees("The program can still get at these 96,593 blocks."));
	CHECK(sees("Allocated with operator new by:"));
	ui_key(&p.ui, UI_KEY_ESC);
	paper_keys(&p, "gg");
	for (int i = 0; i < 7 && !sees("data of server at 0x30048"); i++)
		paper_keys(&p, "j");
	paper_keys(&p, "\r");
	CHECK(sees("9,999,990 more blocks") && sees("of index::load") && sees("cache::Shard"));
	paper_close(&p);
}

/* Secrets stay where they are until they are asked for, and then control bytes are none. */
TEST(contents_only_after_h)
{
	begin(60, 120);
	scan();
	paper_keys(&p, "j\r");
	CHECK(!sees("user=alice"));
	paper_keys(&p, "H");
	CHECK(sees("75 73 65 72 3d 61 6c 69 63 65 1b 5b 32 4a 00 00  user=alice.[2J.."));
	paper_keys(&p, "H");
	CHECK(!sees("user=alice"));
	paper_close(&p);
}

TEST(a_scans_by_itself)
{
	begin(30, 100);
	ui_tab(&p.ui, VIEW_LEAKS);
	paper_keys(&p, "A30s\r");
	CHECK_INT(p.canned.leaks.state.every_ns / CANNED_S, 30);
	CHECK(sees("next in 15s"));
	paper_keys(&p, "A10ms\r");
	CHECK_INT(p.canned.leaks.state.every_ns / CANNED_S, 30);
	CHECK(sees("is no time of a second or more"));
	paper_keys(&p, "A0\r");
	CHECK_INT(p.canned.leaks.state.every_ns, 0);
	paper_close(&p);
}

/* A result may come, and take the place of the one before, between two frames. */
TEST(rows_are_never_of_an_old_result)
{
	begin(40, 120);
	scan();
	paper_keys(&p, "G");
	p.canned.leaks.none = true;
	paper_keys(&p, "L");
	cannedleaks_end(&p.canned.leaks, 1);
	paper_draw(&p);
	CHECK_INT(p.ui.leaks.list.count, 0);
	CHECK(sees("no leaks: a way to every block was found"));
	paper_keys(&p, "\r!");
	CHECK(sees("nothing to suppress"));
	/* Another image: nothing of it is left. */
	p.canned.image = &p;
	p.canned.leaks = (struct cannedleaks){ .state.version = 99 };
	ui_tick(&p.ui);
	CHECK(ui_view(&p.ui) == view_table[VIEW_LEAKS] && !p.ui.leaks.last);
	CHECK(sees("L scans for leaks"));
	paper_close(&p);
}

TEST(every_size_draws)
{
	begin(30, 100);
	scan();
	for (int h = 1; h <= 80; h += h < 26 ? 1 : 9) {
		for (int w = 1; w <= 250; w += w < 90 ? 1 : 23) {
			paper_resize(&p, h, w);
			ui_draw(&p.ui);
			paper_keys(&p, "KKKKKKj\rH");
			ui_draw(&p.ui);
			paper_keys(&p, "qK");
		}
	}
	CHECK_INT(p.ui.depth, 1);
	paper_close(&p);
}

TEST(still_leaks_send_little)
{
	long before;

	begin(30, 100);
	scan();
	before = paper_bytes(&p);
	for (int i = 0; i < 20; i++) {
		ui_tick(&p.ui);
		paper_draw(&p);
	}
	CHECK((paper_bytes(&p) - before) / 20 <= 1024);
	paper_close(&p);
}

int main(void)
{
	RUN(l_scans_from_everywhere_and_esc_ends_it);
	RUN(a_refusal_is_told);
	RUN(rows_are_the_lost_ones_and_since_the_scan_before);
	RUN(k_chooses_kinds);
	RUN(what_is_suppressed_is_gone_and_can_be_seen);
	RUN(why_tells_who_points_to_it);
	RUN(contents_only_after_h);
	RUN(a_scans_by_itself);
	RUN(rows_are_never_of_an_old_result);
	RUN(every_size_draws);
	RUN(still_leaks_send_little);
	return check_end();
}
