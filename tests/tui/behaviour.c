/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What keys, clicks and ticks do to the screen: the selection is a site and keeps its line,
 * freezing and holding, sorting, the ways out, every size, and how many bytes a frame
 * costs.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/header.h"

static struct paper p;

static void begin(int height, int width)
{
	paper_open(&p, height, width, false);
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static int cursor_line(void)
{
	return (int)(p.ui.sites.list.cursor - p.ui.sites.list.top);
}

TEST(selection_is_a_site_and_keeps_its_line)
{
	uint32_t site;
	int line;

	begin(30, 100);
	paper_keys(&p, "5jjjj"); /* by blocks: the order changes as the sawtooth moves */
	site = p.ui.sites.selected;
	line = cursor_line();
	for (const char *key = "352461"; *key; key++) {
		screen_key(&p.ui, *key);
		refresh_tick(&p.ui);
		paper_draw(&p);
		CHECK_INT(p.ui.sites.selected, site);
		CHECK_INT(p.ui.shown->sites[p.ui.sites.order[p.ui.sites.list.cursor]].id, site);
		if (p.ui.sites.list.cursor >= (size_t)line)
			CHECK_INT(cursor_line(), line);
	}
	paper_close(&p);
}

TEST(selection_deep_in_the_list_keeps_its_line)
{
	uint32_t site;

	begin(30, 100);
	for (int i = 0; i < 1000; i++)
		screen_key(&p.ui, 'j');
	for (int i = 0; i < 7; i++)
		screen_key(&p.ui, 'k');
	paper_draw(&p);
	site = p.ui.sites.selected;
	for (int i = 0; i < 10; i++) {
		int line = cursor_line();

		refresh_tick(&p.ui);
		paper_draw(&p);
		CHECK_INT(p.ui.sites.selected, site);
		CHECK_INT(cursor_line(), line);
		CHECK_INT(paper_line(&p, p.ui.layout.y[ROW_BODY] + line)[0], '>');
	}
	paper_close(&p);
}

TEST(untouched_cursor_stays_on_row_0)
{
	uint32_t first;

	begin(30, 100);
	first = p.ui.sites.selected;
	paper_keys(&p, "3");
	CHECK(p.ui.sites.selected != first);
	CHECK_INT(p.ui.sites.list.cursor, 0);
	/* Once moved it follows; going home gives it back. */
	paper_keys(&p, "j");
	first = p.ui.sites.selected;
	paper_keys(&p, "1");
	CHECK_INT(p.ui.sites.selected, first);
	paper_keys(&p, "gg3");
	CHECK_INT(p.ui.sites.list.cursor, 0);
	paper_close(&p);
}

/* The program notes no points while its heap stands still, and the strip goes on all the same. */
TEST(history_reaches_from_the_start_until_now)
{
	struct snapshot *now;

	begin(30, 100);
	now = p.ui.current;
	now->history_points = 2;
	now->history_step_ns = CANNED_S;
	now->history[0] = 1000;
	now->history[1] = 500;
	now->uptime_ns = 9 * CANNED_S;
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HISTORY]), " 0:09 ▇▁▁▁▁▁▁▁▁ ") != NULL);
	now->uptime_ns = 100 * 86400ull * CANNED_S;
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HISTORY]), " 100d 00:00:00 ▇▁▁▁▁") != NULL);
	now->history_points = 0;
	now->history_step_ns = 0;
	paper_draw(&p);
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HISTORY]), "▇") == NULL);
	now->history_points = SNAP_HISTORY_POINTS;
	now->history_step_ns = CANNED_S;
	now->uptime_ns = 0;
	paper_draw(&p);
	paper_close(&p);
}

TEST(frozen_rows_stand_still_while_the_header_moves)
{
	char row[SCREEN_DUMP_LINE], title[SCREEN_DUMP_LINE];
	int y;

	begin(30, 100);
	y = p.ui.layout.y[ROW_BODY] + 1;
	paper_keys(&p, " ");
	paper_draw(&p);
	strcpy(row, paper_line(&p, y));
	strcpy(title, paper_line(&p, 0));
	refresh_tick(&p.ui);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_STR(paper_line(&p, y), row);
	CHECK(strcmp(paper_line(&p, 0), title) != 0);
	CHECK(paper_find(&p, "FROZEN 0:02") >= 0);
	CHECK(paper_find(&p, "2 newer snapshots are waiting") >= 0);
	paper_keys(&p, "Z");
	paper_draw(&p);
	CHECK(strcmp(paper_line(&p, y), row) != 0);
	CHECK_INT(paper_find(&p, "FROZEN"), -1);
	paper_close(&p);
}

/* Site 3 of the image before exec is not site 3 of the one after. */
TEST(exec_forgets_what_was_picked)
{
	int images[2];

	begin(30, 100);
	p.canned.image = &images[0];
	refresh_tick(&p.ui);
	paper_keys(&p, "jjj\r ");
	p.canned.image = &images[1];
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]); /* frozen: still the one before */
	CHECK(p.ui.shown->owner == &images[0]);
	paper_keys(&p, " ");
	paper_draw(&p);
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	CHECK_INT(p.ui.sites.list.cursor, 0);
	CHECK(paper_find(&p, "called exec") >= 0);
	paper_close(&p);
}

/* Nor is it when another view is open on top of its detail. */
TEST(exec_closes_the_detail_below_other_views)
{
	static int images[2];

	begin(30, 100);
	p.canned.image = &images[0];
	refresh_tick(&p.ui);
	paper_keys(&p, "jjj\r?");
	p.canned.image = &images[1];
	refresh_tick(&p.ui);
	CHECK(ui_view(&p.ui) == view_table[VIEW_HELP]);
	CHECK_INT(p.ui.depth, 2);
	paper_keys(&p, "?");
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	/* Two of the same view, with nothing between them any more, are one. */
	paper_keys(&p, "O");
	cannedleaks_end(&p.canned.leaks, p.canned.seconds * CANNED_S);
	refresh_tick(&p.ui);
	paper_keys(&p, "\rj\rO");
	CHECK_INT(p.ui.depth, 4);
	p.canned.image = &images[0];
	refresh_tick(&p.ui);
	CHECK(ui_view(&p.ui) == view_table[VIEW_HOLDERS]);
	CHECK_INT(p.ui.depth, 2);
	paper_close(&p);
}

TEST(held_order_keeps_places_and_updates_values)
{
	uint32_t ids[12];

	begin(30, 100);
	paper_keys(&p, "1o");
	memcpy(ids, p.ui.sites.ids, sizeof(ids));
	for (int i = 0; i < 9; i++)
		refresh_tick(&p.ui); /* the sawtooth and the falling sites change places */
	CHECK(!memcmp(ids, p.ui.sites.ids, sizeof(ids)));
	CHECK_INT(p.ui.shown->uptime_ns / CANNED_S, 770);
	p.canned.nsites += 5; /* new sites come, and do not push */
	refresh_tick(&p.ui);
	CHECK(!memcmp(ids, p.ui.sites.ids, sizeof(ids)));
	CHECK_INT(p.ui.sites.list.count, p.canned.nsites);
	paper_draw(&p);
	CHECK(paper_find(&p, "order held") >= 0);
	paper_keys(&p, "3");
	CHECK(memcmp(ids, p.ui.sites.ids, sizeof(ids)) != 0);
	paper_close(&p);
}

TEST(sites_that_vanish_do_no_harm)
{
	begin(30, 100);
	paper_keys(&p, "G");
	p.canned.nsites = 3;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(p.ui.sites.list.cursor, 2);
	paper_keys(&p, "\r");
	p.canned.nsites = 0;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "no longer exists") >= 0);
	paper_keys(&p, "q\r");
	paper_draw(&p);
	CHECK(paper_find(&p, "no site is selected") >= 0);
	CHECK(paper_find(&p, "no call sites yet") >= 0);
	paper_close(&p);
}

TEST(digits_sort_and_again_reverses)
{
	begin(30, 100);
	paper_keys(&p, "5");
	CHECK_INT(p.ui.sort, COL_BLOCKS);
	CHECK(!p.ui.reverse);
	paper_keys(&p, "5");
	CHECK(p.ui.reverse);
	paper_keys(&p, "I");
	CHECK(!p.ui.reverse);
	paper_keys(&p, ">");
	CHECK_INT(p.ui.sort, COL_AVG);
	paper_keys(&p, "<<");
	CHECK_INT(p.ui.sort, COL_TREND);
	paper_keys(&p, "<<<<<<");
	CHECK_INT(p.ui.sort, COL_LIVE);
	paper_keys(&p, "9");
	paper_draw(&p);
	CHECK(paper_find(&p, "sorted by PEAK, which replaces AVG") >= 0);
	CHECK(paper_find(&p, "9PEAK▼") >= 0 && paper_find(&p, "PEAK▼ for AVG") >= 0);
	paper_close(&p);
}

TEST(clicks)
{
	struct layout_column c[COL_COUNT];

	begin(30, 100);
	layout_columns(100, (struct layout_kind){ 0 }, c);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_BODY] + 4, 20);
	CHECK_INT(p.ui.sites.list.cursor, 4);
	CHECK_INT(p.ui.sites.selected, p.ui.sites.ids[4]);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_HEAD], c[2].x + 1);
	CHECK_INT(p.ui.sort, COL_RATE);
	screen_mouse(&p.ui, SCREEN_WHEEL_DOWN, 12, 12);
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_TABS], 10);
	CHECK_INT(p.ui.stack[0], VIEW_TREE);
	/* Anywhere else, and outside: nothing. */
	for (int y = 0; y < 35; y++)
		screen_mouse(&p.ui, SCREEN_CLICK, y, 250);
	paper_close(&p);
}

TEST(ways_out)
{
	begin(30, 100);
	paper_keys(&p, "\r?q");
	CHECK(ui_view(&p.ui) == view_table[VIEW_DETAIL]);
	screen_key(&p.ui, KEY_ESC);
	CHECK(ui_view(&p.ui) == view_table[VIEW_SITES]);
	screen_key(&p.ui, KEY_ESC);
	CHECK(!p.ui.quit);
	paper_keys(&p, "q");
	CHECK(p.ui.quit);
	paper_close(&p);

	begin(30, 100);
	paper_keys(&p, "\r?Q");
	CHECK(p.ui.quit);
	paper_close(&p);
}

/* q asks once if the program was launched and still runs. */
TEST(leaving_a_running_program_is_asked)
{
	begin(30, 100);
	p.ui.options.launched = true;
	paper_keys(&p, "qjq");
	CHECK(!p.ui.quit);
	paper_keys(&p, "q");
	CHECK(p.ui.quit);
	paper_close(&p);

	begin(30, 100);
	p.ui.options.launched = true;
	p.canned.state = SNAP_EXITED;
	refresh_tick(&p.ui);
	paper_keys(&p, "q");
	CHECK(p.ui.quit);
	paper_close(&p);
}

static int ended;

static void end_called(void *ctx)
{
	ended++;
}

/* ... and t, only then, ends it. */
TEST(a_running_program_is_ended_on_request)
{
	begin(30, 100);
	ended = 0;
	p.source.end = end_called;
	p.ui.options.launched = true;
	paper_keys(&p, "t");
	CHECK(!p.ui.quit);
	CHECK_INT(ended, 0);
	paper_keys(&p, "qt");
	CHECK(p.ui.quit);
	CHECK_INT(ended, 1);
	paper_close(&p);
}

TEST(save_says_where)
{
	begin(30, 100);
	paper_keys(&p, "x");
	paper_draw(&p);
	CHECK(paper_find(&p, "saved heaptop-snapshot-4211-1.txt") >= 0);
	/* The message goes with the next key, or after a while. */
	p.canned.now_ns += 60 * CANNED_S;
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "saved"), -1);
	paper_close(&p);
}

TEST(a_failed_tick_is_a_line_and_not_a_crash)
{
	paper_open(&p, 30, 100, false);
	p.canned.error = "the segment was cut off";
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK(paper_find(&p, "cut off") >= 0);
	paper_keys(&p, "\r j3oHv dxq");
	p.ui.prompt.open = false;
	p.canned.error = NULL;
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(paper_find(&p, "cut off"), -1);
	paper_close(&p);
}

/* All tabs are come by, both ways, and where not all fit the one in front is seen. */
TEST(tabs_go_round)
{
	unsigned seen = 0;

	for (int width = 40; width <= 100; width += 20) {
		begin(24, width);
		for (int i = 0; i < VIEW_TABS; i++) {
			char title[32];

			seen |= 1u << p.ui.stack[0];
			snprintf(title, sizeof(title), "[%s]", view_table[p.ui.stack[0]]->title);
			paper_draw(&p);
			CHECK_INT(paper_find(&p, title), p.ui.layout.y[ROW_TABS]);
			screen_key(&p.ui, '\t');
		}
		CHECK_INT(p.ui.stack[0], VIEW_SITES);
		CHECK_INT(seen, (1u << VIEW_TABS) - 1);
		screen_key(&p.ui, KEY_BTAB);
		CHECK_INT(p.ui.stack[0], VIEW_TABS - 1);
		/* A click on a tab that is seen opens that one. */
		for (int x = 0; x < width; x++) {
			int tab = header_tab_at(&p.ui, x);

			if (tab >= 0) {
				screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_TABS], x);
				CHECK_INT(p.ui.stack[0], tab);
			}
		}
		paper_close(&p);
	}
}

/* The selected row is marked by a sign and by reverse video; mono has no colours at all. */
TEST(never_colour_alone)
{
	attr_t attrs;
	short pair;
	cchar_t cell;
	wchar_t wide[CCHARW_MAX + 1];

	begin(30, 100);
	draw_init(TUI_COLOR_NEVER, false);
	paper_draw(&p);
	for (int y = 0; y < 30; y++) {
		for (int x = 0; x < 100; x++) {
			mvin_wch(y, x, &cell);
			getcchar(&cell, wide, &attrs, &pair, NULL);
			CHECK_INT(pair, 0);
		}
	}
	mvin_wch(p.ui.layout.y[ROW_BODY], 0, &cell);
	getcchar(&cell, wide, &attrs, &pair, NULL);
	CHECK(wide[0] == L'>' && (attrs & A_REVERSE));
	paper_close(&p);
}

TEST(no_color_is_heeded)
{
	cchar_t cell;
	wchar_t wide[CCHARW_MAX + 1];
	attr_t attrs;
	short pair;

	begin(30, 100);
	setenv("NO_COLOR", "1", 1);
	draw_init(TUI_COLOR_AUTO, false);
	paper_draw(&p);
	mvin_wch(p.ui.layout.y[ROW_HEAD], 3, &cell);
	getcchar(&cell, wide, &attrs, &pair, NULL);
	CHECK_INT(pair, 0);
	draw_init(TUI_COLOR_ALWAYS, false);
	paper_draw(&p);
	mvin_wch(p.ui.layout.y[ROW_HEAD], 3, &cell);
	getcchar(&cell, wide, &attrs, &pair, NULL);
	CHECK(pair != 0);
	unsetenv("NO_COLOR");
	paper_close(&p);
}

/* Whatever a name holds, no control reaches the screen. */
TEST(unclean_text_is_never_drawn)
{
	begin(30, 100);
	draw_text(3, 0, 40, STYLE_PLAIN,
		"a\033[31m\x07\xff\xc3"
		"b\xe2\x80\xae"
		"c\ttab");
	for (const char *c = paper_line(&p, 3); *c; c++)
		CHECK((unsigned char)*c >= ' ');
	CHECK_INT(strncmp(paper_line(&p, 3), "a?[31m??", 8), 0);
	paper_close(&p);
}

/* Every size, each view: drawing neither crashes nor writes outside, and the way out is known. */
TEST(every_size_draws)
{
	static const char *const keys[] = { "", "\r", "qt", "ijl", "iE", "\t", "\t", "\t", "\t",
		"?", "qt", "t" };

	begin(30, 100);
	p.canned.nsites = 40;
	refresh_tick(&p.ui);
	for (int h = 1; h <= 80; h += h < 26 ? 1 : 9) {
		for (int w = 1; w <= 250; w += w < 44 ? 1 : 23) {
			paper_resize(&p, h, w);
			for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
				paper_keys(&p, keys[i]);
				screen_draw(&p.ui);
				if (w >= 15 && h >= 2 && p.ui.layout.tiny)
					CHECK(paper_find(&p, "q quits") >= 0);
			}
			CHECK_INT(p.ui.depth, 1);
		}
	}
	paper_close(&p);
}

/* Where nothing else has room, what a key asks has. */
TEST(a_tiny_screen_asks_too)
{
	begin(30, 100);
	p.ui.options.launched = true;
	for (int h = 1; h < LAYOUT_MIN_HEIGHT; h++) {
		paper_resize(&p, h, 60);
		paper_keys(&p, "q");
		screen_draw(&p.ui);
		CHECK(p.ui.layout.tiny && !p.ui.quit);
		CHECK(paper_find(&p, "q leaves it running, t ends it") >= 0);
		CHECK((paper_find(&p, "q quits heaptop") >= 0) == (h > 1));
		CHECK((paper_find(&p, "need") >= 0) == (h > 2));
		screen_key(&p.ui, KEY_ESC);
		screen_draw(&p.ui);
		CHECK(paper_find(&p, "t ends it") < 0);
	}
	paper_resize(&p, 6, 20); /* by words, on as many lines as it takes */
	paper_keys(&p, "q");
	screen_draw(&p.ui);
	CHECK(paper_find(&p, "q leaves it") >= 0);
	paper_close(&p);
}

/* A user who leans on the keyboard, from a fixed seed: nothing breaks and a row is always selected.
 */
TEST(any_keys_in_any_order)
{
	uint32_t seed = 12345;

	begin(30, 100);
	p.canned.nsites = 60;
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525u + 1013904223u;
		screen_key(&p.ui, (seed >> 8) % 10 ? (int)(seed >> 16) % 128
						   : KEY_MIN + (int)(seed >> 16) % 400);
		if (i % 37 == 0)
			p.canned.nsites = (seed >> 12) % 60;
		if (i % 11 == 0)
			refresh_tick(&p.ui);
		if (i % 29 == 0 && p.canned.leaks.state.phase != LEAKS_IDLE)
			cannedleaks_end(&p.canned.leaks, 1);
		if (i % 53 == 0)
			paper_resize(&p, 1 + (int)(seed >> 9) % 50, 1 + (int)(seed >> 19) % 160);
		if (i % 7 == 0)
			screen_draw(&p.ui);
		p.ui.quit = p.ui.suspend = false;
		CHECK(p.ui.depth >= 1 && p.ui.depth <= UI_STACK_MAX);
		CHECK(!p.ui.sites.list.count || p.ui.sites.list.cursor < p.ui.sites.list.count);
	}
	paper_close(&p);
}

/* The budget of a frame in which values and some rows change, at 100x30 with 10,000 sites. */
TEST(steady_frame_is_below_1_kb)
{
	long before;
	const int frames = 20;

	begin(30, 100);
	p.canned.nsites = 10000;
	refresh_tick(&p.ui);
	paper_draw(&p);
	before = paper_bytes(&p);
	for (int i = 0; i < frames; i++) {
		refresh_tick(&p.ui);
		paper_draw(&p);
	}
	CHECK(paper_bytes(&p) - before > 0);
	CHECK((paper_bytes(&p) - before) / frames <= 1024);
	fprintf(stderr, "%ld bytes per frame\n", (paper_bytes(&p) - before) / frames);
	/* When nothing changes, nothing is sent. */
	p.canned.still = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
	before = paper_bytes(&p);
	refresh_tick(&p.ui);
	paper_draw(&p);
	CHECK_INT(paper_bytes(&p) - before, 0);
	paper_close(&p);
}

int main(void)
{
	RUN(selection_is_a_site_and_keeps_its_line);
	RUN(selection_deep_in_the_list_keeps_its_line);
	RUN(untouched_cursor_stays_on_row_0);
	RUN(history_reaches_from_the_start_until_now);
	RUN(frozen_rows_stand_still_while_the_header_moves);
	RUN(exec_forgets_what_was_picked);
	RUN(exec_closes_the_detail_below_other_views);
	RUN(held_order_keeps_places_and_updates_values);
	RUN(sites_that_vanish_do_no_harm);
	RUN(digits_sort_and_again_reverses);
	RUN(clicks);
	RUN(ways_out);
	RUN(leaving_a_running_program_is_asked);
	RUN(a_running_program_is_ended_on_request);
	RUN(save_says_where);
	RUN(a_failed_tick_is_a_line_and_not_a_crash);
	RUN(tabs_go_round);
	RUN(never_colour_alone);
	RUN(no_color_is_heeded);
	RUN(unclean_text_is_never_drawn);
	RUN(every_size_draws);
	RUN(a_tiny_screen_asks_too);
	RUN(any_keys_in_any_order);
	RUN(steady_frame_is_below_1_kb);
	return check_end();
}
