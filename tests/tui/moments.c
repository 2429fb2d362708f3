/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another moment than now on the screen: the cursor on the time line, ranges, the peak, what says
 * so, and the ways back. The canned past has a tick for each second.
 */
#include "tests/check.h"
#include "tests/tui/paper.h"
#include "tui/moment_words.h"
#include "tui/time_strip.h"

static struct paper p;

static void begin_at(int height, int width)
{
	paper_open(&p, height, width, false);
	p.canned.past = true;
	refresh_tick(&p.ui);
	paper_draw(&p);
}

static void begin(void)
{
	begin_at(30, 100);
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

/* The second that the rows are of. */
static uint64_t at(void)
{
	return p.ui.shown->uptime_ns / CANNED_S;
}

static bool is_live(void)
{
	return p.ui.shown->moment == SNAP_NOW && !p.ui.frozen;
}

/* Live bytes of the first canned site. */
static uint64_t first_live(void)
{
	for (size_t i = 0; i < p.ui.shown->nsites; i++)
		if (p.ui.shown->sites[i].id == 17)
			return p.ui.shown->sites[i].live_bytes;
	return 0;
}

TEST(a_step_back_shows_that_tick)
{
	begin();
	CHECK(is_live() && sees("● LIVE") && !sees("PAST"));
	p.canned.still = true;
	paper_keys(&p, ",");
	CHECK_INT(at(), 760);
	CHECK_INT(first_live(), canned_bytes(0, 760));
	CHECK(sees(" PAST 12:40 of 12:41") && !sees("● LIVE"));
	paper_keys(&p, ",,,,");
	CHECK_INT(at(), 756);
	CHECK_INT(first_live(), canned_bytes(0, 756));
	paper_keys(&p, "..");
	CHECK_INT(at(), 758);
	CHECK(!sees("● LIVE"));
	paper_close(&p);
}

TEST(new_ticks_do_not_move_the_past)
{
	uint64_t bytes;

	begin();
	paper_keys(&p, "((,");
	bytes = first_live();
	CHECK(p.ui.shown->moment == SNAP_PAST);
	uint64_t then = at();
	seconds(30);
	CHECK_INT(at(), then);
	CHECK_INT(first_live(), bytes);
	CHECK(sees("of 13:1")); /* while the time that it is part of goes on */
	paper_close(&p);
}

TEST(f_always_brings_the_newest_moment)
{
	static const char *const ways[] = { ",", "((", "P", "^", "J", "JJ", "s((", ",P", "s(P", " ",
		"'" };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		begin();
		paper_keys(&p, "m\r");
		seconds(5);
		paper_keys(&p, ways[i]);
		CHECK(!is_live() && !sees("● LIVE"));
		paper_keys(&p, "F");
		CHECK(is_live() && sees("● LIVE"));
		CHECK_INT(at(), p.canned.seconds);
		seconds(1);
		CHECK_INT(at(), p.canned.seconds);
		paper_close(&p);
	}
}

TEST(esc_space_end_and_the_last_step_bring_it_too)
{
	static const int keys[] = { KEY_ESC, ' ', 'Z', KEY_END };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		begin();
		paper_keys(&p, ",");
		CHECK(!is_live());
		screen_key(&p.ui, keys[i]);
		CHECK(is_live() && sees("● LIVE"));
		paper_close(&p);
	}
	begin();
	p.canned.still = true;
	paper_keys(&p, ",,");
	paper_keys(&p, "..");
	CHECK(p.ui.shown->moment == SNAP_PAST); /* the newest tick, which later ones follow */
	paper_keys(&p, ".");
	CHECK(is_live());
	paper_keys(&p, ".");
	CHECK(is_live() && sees("this is the newest moment"));
	paper_close(&p);
}

TEST(home_and_end_belong_to_what_moved_last)
{
	uint32_t row;

	begin();
	paper_keys(&p, "jjj");
	row = p.ui.sites.selected;
	paper_keys(&p, "(");
	screen_key(&p.ui, KEY_HOME);
	CHECK_INT(at(), 0);
	CHECK_INT(p.ui.sites.selected, row); /* the table's cursor did not move */
	screen_key(&p.ui, KEY_END);
	CHECK(is_live());
	paper_keys(&p, ",j");
	screen_key(&p.ui, KEY_END);
	CHECK(!is_live());
	CHECK_INT(p.ui.sites.list.cursor, p.ui.sites.list.count - 1);
	paper_close(&p);
}

TEST(leaps_columns_and_ends)
{
	begin();
	p.canned.still = true;
	paper_keys(&p, "(");
	CHECK_INT(at(), 684); /* a tenth of 761 seconds */
	paper_keys(&p, ")");
	CHECK(at() >= 760 || is_live());
	paper_keys(&p, "F((((((((((((");
	CHECK_INT(at(), 0);
	paper_keys(&p, ",");
	CHECK(sees("first moment kept"));
	paper_keys(&p, "))))))))))))");
	CHECK(is_live());
	screen_key(&p.ui, KEY_SLEFT);
	CHECK(at() < 760 && at() >= 760 - 2 * 15);
	for (int i = 0; i < 100; i++)
		screen_key(&p.ui, KEY_SLEFT);
	CHECK_INT(at(), 0);
	for (int i = 0; i < 200 && !is_live(); i++)
		screen_key(&p.ui, KEY_SRIGHT);
	CHECK(is_live());
	paper_close(&p);
}

TEST(jumps)
{
	begin();
	paper_keys(&p, "^");
	CHECK_INT(at(), CANNED_SPIKE);
	CHECK(sees("the highest tick") && sees("▲9:12") == false && sees("PAST 9:12 of"));
	paper_keys(&p, "FJ");
	CHECK_INT(at(), CANNED_SPIKE);
	CHECK(sees("largest rise: +"));
	paper_keys(&p, "J");
	CHECK(sees("RANGE 9:11-9:12") && sees("SINCE▼"));
	paper_keys(&p, "F");
	CHECK(sees("sort LIVE") && sees("▲9:12"));
	paper_close(&p);
}

/* "12:41" and "9:12" beside it would be "12:419:12". */
static bool times_are_apart(const char *axis)
{
	for (const char *c = axis; *c; c++)
		if (*c == ':' && strspn(c + 1, "0123456789") != 2)
			return false;
	return true;
}

TEST(times_on_the_axis_are_apart)
{
	begin();
	paper_keys(&p, "(((s)))");
	for (int i = 0; i < 70; i++) {
		screen_key(&p.ui, KEY_SLEFT);
		paper_draw(&p);
		CHECK(times_are_apart(paper_line(&p, p.ui.layout.y[ROW_HISTORY] + 2)));
		if (i == 50)
			paper_keys(&p, "F");
	}
	paper_close(&p);
}

TEST(marks_are_found_on_the_line)
{
	begin();
	paper_keys(&p, "mfirst\r");
	seconds(60);
	paper_keys(&p, "msecond\r");
	seconds(60);
	paper_keys(&p, "'");
	CHECK(sees("mark 2 (second)"));
	paper_keys(&p, "'");
	CHECK(sees("mark 1 (first)"));
	CHECK_INT(at(), 761);
	paper_keys(&p, "'");
	CHECK(sees("no mark before this moment"));
	paper_keys(&p, "\"");
	CHECK(sees("mark 2 (second)"));
	paper_keys(&p, "\"");
	CHECK(sees("no mark after this moment"));
	paper_close(&p);
}

/* Ten seconds of 402 kB/s at the second site: allocated, freed and kept. */
TEST(a_range_counts_what_is_between)
{
	const struct snap_since *s = NULL;

	begin();
	p.canned.still = true;
	paper_keys(&p, ",s");
	CHECK(sees("a range from 12:40"));
	CHECK(p.ui.shown->moment == SNAP_PAST);
	paper_keys(&p, ",,,,,,,,,,");
	CHECK(sees("RANGE 12:30-12:40") && sees("ALLOC") && sees("FREED") && !sees("KEPT"));
	CHECK_INT(at(), 760);
	CHECK_INT(p.ui.shown->range_from_ns, 750 * CANNED_S);
	for (size_t i = 0; i < p.ui.shown->nsites; i++)
		if (p.ui.shown->sites[i].id == 18)
			s = &p.ui.shown->sites[i].since;
	CHECK(s && s->bytes == (int64_t)(canned_bytes(1, 760) - canned_bytes(1, 750)));
	CHECK(sees("+3.8M")); /* 4.02 MB */
	CHECK(sees("blocks, freed"));
	CHECK_INT(p.ui.sort, COL_SINCE);
	/* The other end moves as well as this one. */
	paper_keys(&p, ".....");
	CHECK(sees("RANGE 12:35-12:40"));
	paper_keys(&p, "s");
	CHECK(sees("PAST 12:35 of") && sees("sort LIVE") && !sees("ALLOC "));
	paper_close(&p);
}

TEST(the_newest_tick_can_end_a_range)
{
	begin();
	p.canned.still = true;
	paper_keys(&p, "(s))");
	CHECK(sees("RANGE 11:24-12:41"));
	paper_keys(&p, ".");
	CHECK(sees("the newest tick: the range ends here"));
	screen_key(&p.ui, KEY_END);
	CHECK(sees("RANGE 11:24-12:41"));
	paper_close(&p);
}

TEST(p_shows_the_peak_and_returns)
{
	begin();
	p.canned.still = true;
	paper_keys(&p, "P");
	CHECK(p.ui.shown->moment == SNAP_PEAK && sees(" PEAK 9:12") && sees("P back"));
	CHECK_INT(first_live(), canned_bytes(0, 761) * 3);
	paper_keys(&p, "P");
	CHECK(is_live());
	paper_keys(&p, ",,P");
	CHECK(sees("PEAK 9:12"));
	paper_keys(&p, "P");
	CHECK(sees("PAST 12:39"));
	p.canned.no_peak = true;
	paper_keys(&p, "P");
	CHECK(sees("peak is unknown") && sees("PAST 12:39"));
	paper_close(&p);
}

/* Every view says which moment it shows, with the header and without it. */
TEST(every_view_has_the_badge)
{
	static const char *const moments[][2] = { { ",", " PAST 12:" }, { "P", " PEAK 9:12" },
		{ "s((", " RANGE " } };
	static const struct {
		int height, width;
	} sizes[] = { { 8, 40 }, { 16, 60 }, { 24, 80 }, { 30, 100 }, { 60, 200 } };

	for (size_t m = 0; m < 3; m++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (int v = 0; v < VIEW_COUNT; v++) {
				begin_at(sizes[i].height, sizes[i].width);
				paper_keys(&p, moments[m][0]);
				ui_push(&p.ui, (enum view_id)v);
				if (!sees(moments[m][1]))
					check_fail(view_table[v]->title, sizes[i].width, "a badge");
				CHECK(!sees("● LIVE"));
				p.ui.header_off = true;
				if (!sees(moments[m][1]))
					check_fail(view_table[v]->title, sizes[i].width,
						"without a header, too");
				paper_close(&p);
			}
}

TEST(views_of_now_say_that_they_are)
{
	static const enum view_id views[] = { VIEW_MAP, VIEW_LEAKS, VIEW_WHY };

	for (size_t i = 0; i < 3; i++) {
		begin();
		paper_keys(&p, ",");
		ui_push(&p.ui, views[i]);
		CHECK(sees("Not available for PAST") && sees("F returns"));
		paper_keys(&p, "F");
		CHECK(!sees("Not available"));
		paper_close(&p);
	}
	begin();
	paper_keys(&p, ",L");
	CHECK(sees("a scan reads the program as it is now"));
	CHECK_INT(p.canned.leaks.state.phase, LEAKS_IDLE);
	paper_keys(&p, "FPgt");
	CHECK(sees("known only of now"));
	paper_close(&p);
}

TEST(a_site_that_did_not_exist_says_so)
{
	begin();
	paper_keys(&p, "j\r"); /* the shard, an even site */
	CHECK(sees("SITE 17"));
	p.ui.detail.site = 18;
	paper_keys(&p, "P");
	CHECK(sees("no live blocks at the peak"));
	paper_keys(&p, "P");
	CHECK(sees("SITE 18"));
	paper_close(&p);
}

TEST(frozen_is_not_past)
{
	begin();
	paper_keys(&p, " ");
	seconds(5);
	CHECK(sees("FROZEN") && !sees("PAST"));
	/* From there one steps on the line. */
	paper_keys(&p, ",");
	CHECK(!p.ui.frozen && sees("PAST 12:40") && !sees("FROZEN"));
	paper_close(&p);
}

TEST(a_click_and_a_drag_move_the_cursor)
{
	int y, x;

	begin();
	p.canned.still = true;
	y = p.ui.layout.y[ROW_HISTORY] + 1;
	x = p.ui.moments.strip_x;
	screen_mouse(&p.ui, SCREEN_CLICK, y, x + 10);
	CHECK(p.ui.shown->moment == SNAP_PAST);
	CHECK_INT(strip_cell_at(&p.ui.moments.strip, at() * CANNED_S), 10);
	/* A drag that began there goes on outside. */
	screen_mouse(&p.ui, SCREEN_DRAG, y + 9, x + 20);
	CHECK_INT(strip_cell_at(&p.ui.moments.strip, at() * CANNED_S), 20);
	screen_mouse(&p.ui, SCREEN_CLICK_RIGHT, y, x + 5);
	CHECK(sees("RANGE"));
	CHECK_INT(strip_cell_at(&p.ui.moments.strip, p.ui.shown->range_from_ns), 5);
	screen_mouse(&p.ui, SCREEN_RELEASE, y, x);
	screen_mouse(&p.ui, SCREEN_DRAG, y, x + 30);
	CHECK_INT(strip_cell_at(&p.ui.moments.strip, at() * CANNED_S), 20);
	paper_keys(&p, "F,");
	screen_mouse(&p.ui, SCREEN_CLICK, y, 500);
	CHECK(is_live());
	/* The spike is one tick of a cell of many. */
	screen_mouse(&p.ui, SCREEN_CLICK, y,
		x + (int)strip_cell_at(&p.ui.moments.strip, CANNED_SPIKE * CANNED_S));
	CHECK_INT(at(), CANNED_SPIKE);
	paper_close(&p);
}

/* The spike of one second is the highest bar at every width. */
TEST(the_spike_is_seen_at_every_size)
{
	begin();
	for (int w = 40; w <= 220; w += 3) {
		paper_resize(&p, 50, w);
		paper_draw(&p);
		const struct strip *s = &p.ui.moments.strip;

		CHECK(s->count > 0);
		CHECK_INT(s->high_cell, strip_cell_at(s, CANNED_SPIKE * CANNED_S));
		CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HISTORY]), "█"));
	}
	paper_close(&p);
}

TEST(a_new_size_keeps_the_moment)
{
	begin();
	paper_keys(&p, "((");
	uint64_t then = at();

	for (int h = 1; h <= 60; h++) {
		paper_resize(&p, h, 20 + h * 3);
		paper_draw(&p);
		CHECK_INT(at(), then);
	}
	paper_resize(&p, 24, 80);
	CHECK(sees("PAST"));
	paper_close(&p);
}

TEST(the_table_keeps_its_room_on_24_lines)
{
	int body;

	begin_at(24, 80);
	p.canned.past = false;
	refresh_tick(&p.ui);
	paper_draw(&p);
	body = p.ui.layout.body_height;
	p.canned.past = true;
	refresh_tick(&p.ui);
	paper_keys(&p, ",");
	paper_draw(&p);
	CHECK_INT(p.ui.layout.body_height, body);
	CHECK_INT(p.ui.layout.history_height, 1);
	paper_close(&p);
}

TEST(without_a_past_all_is_as_before)
{
	begin();
	p.canned.past = false;
	refresh_tick(&p.ui);
	CHECK_INT(p.ui.layout.history_height, 3); /* until the next frame */
	paper_draw(&p);
	CHECK_INT(p.ui.layout.history_height, 1);
	paper_keys(&p, ",");
	CHECK(is_live() && sees("nothing of the past is kept"));
	paper_keys(&p, "()^J'\"s");
	CHECK(is_live());
	p.source.timeline = NULL;
	p.source.moment_show = NULL;
	paper_keys(&p, ",P");
	CHECK(is_live() && sees("not recorded here"));
	paper_keys(&p, "F");
	CHECK(sees("this is the newest moment"));
	paper_close(&p);
}

TEST(hostile_time_lines)
{
	static const size_t few[] = { 1, 2, 3 };

	for (size_t i = 0; i < 3; i++) {
		begin_at(40, 90);
		p.canned.few = few[i];
		refresh_tick(&p.ui);
		paper_draw(&p);
		paper_keys(&p, ",,,..(()))^JJsPP");
		screen_key(&p.ui, KEY_SLEFT);
		screen_key(&p.ui, KEY_SRIGHT);
		paper_draw(&p);
		paper_keys(&p, "F");
		CHECK(is_live());
		paper_close(&p);
	}
}

static struct timeline_point same[5];
static const struct timeline same_line = { .points = same, .npoints = 5 };

static const struct timeline *same_timeline(void *ctx)
{
	return &same_line;
}

/* Ticks at one time are one step. */
TEST(equal_times_do_not_hold_the_cursor)
{
	static const uint64_t at_s[] = { 1, 5, 5, 5, 9 };

	begin();
	for (size_t i = 0; i < 5; i++)
		same[i] = (struct timeline_point){ .ns = at_s[i] * CANNED_S, .live_bytes = i };
	p.source.timeline = same_timeline;
	paper_keys(&p, ",");
	CHECK_INT(at(), 5);
	paper_keys(&p, ",");
	CHECK_INT(at(), 1);
	paper_keys(&p, ".");
	CHECK_INT(at(), 5);
	paper_keys(&p, ".");
	CHECK_INT(at(), 9);
	paper_close(&p);
}

TEST(a_recording_has_an_end_and_no_live)
{
	begin();
	p.canned.replayed = p.canned.still = true;
	p.canned.line.file = "/tmp/night.heaptop";
	refresh_tick(&p.ui);
	CHECK(sees(" END 12:41") && !sees("● LIVE"));
	CHECK(sees("replay night.heaptop"));
	paper_keys(&p, ",");
	CHECK(sees("PAST 12:40 of 12:41") && sees("F the end"));
	paper_close(&p);
}

TEST(the_recording_is_shown)
{
	begin();
	p.canned.line.file = "/var/tmp/night.heaptop";
	p.canned.line.file_bytes = 5 << 20;
	p.canned.line.file_bytes_per_s = 34 << 10;
	CHECK(sees("rec 5.0M 34.0k/s") && sees("history 3.0M of 32.0M"));
	paper_resize(&p, 40, 100);
	CHECK(sees("in night.heaptop"));
	paper_resize(&p, 24, 100);
	CHECK(sees("rec 5.0M"));
	p.canned.line.trouble = "No space left on device";
	CHECK(sees("not recorded: No space left"));
	paper_resize(&p, 40, 100);
	CHECK(sees("! No space left on device"));
	paper_close(&p);
}

TEST(a_recording_without_a_past_in_memory)
{
	begin();
	p.canned.line.file = "/var/tmp/night.heaptop";
	p.canned.line.file_bytes = 5 << 20;
	p.canned.none = true;
	refresh_tick(&p.ui);
	CHECK(sees("rec 5.0M") && !sees("history"));
	CHECK_INT(p.ui.layout.history_height, 1);
	paper_keys(&p, ",");
	CHECK(is_live() && sees("nothing of the past is kept"));
	paper_close(&p);
}

/* As with -r FILE --at 9:12. */
TEST(the_first_snapshot_may_be_of_the_past)
{
	paper_open(&p, 30, 100, false);
	p.canned.past = p.canned.still = true;
	p.canned.moment = (struct moment){ SNAP_RANGE, 552 * CANNED_S, 500 * CANNED_S };
	refresh_tick(&p.ui);
	CHECK(sees("RANGE 8:20-9:12") && sees("SINCE▼"));
	paper_keys(&p, ".");
	CHECK(sees("RANGE 8:20-9:13"));
	paper_keys(&p, "s,");
	CHECK(sees("PAST 9:12 of"));
	paper_close(&p);
}

/* A held key would add ticks to the past, and wait for each. */
TEST(moving_the_cursor_takes_no_tick)
{
	uint64_t then;

	begin();
	then = p.canned.seconds;
	paper_keys(&p, ",,,((J^PPs(.F");
	screen_mouse(&p.ui, SCREEN_CLICK, p.ui.layout.y[ROW_HISTORY], 30);
	CHECK_INT(p.canned.seconds, then);
	p.source.moment_take = NULL;
	paper_keys(&p, ",");
	CHECK_INT(p.canned.seconds, then + 1);
	CHECK(p.ui.shown->moment == SNAP_PAST);
	paper_close(&p);
}

/* As without a time line (growth.c, flat.c): about what changed is sent. */
TEST(a_growing_line_is_not_repainted)
{
	static const struct {
		int height, width;
	} sizes[] = { { 24, 80 }, { 30, 100 }, { 60, 200 } };

	for (size_t i = 0; i < 3; i++) {
		long before;

		begin_at(sizes[i].height, sizes[i].width);
		p.canned.nsites = 10;
		seconds(2);
		paper_draw(&p);
		before = paper_bytes(&p);
		for (int n = 0; n < 60; n++) {
			refresh_tick(&p.ui);
			paper_draw(&p);
		}
		printf("%dx%d: %ld bytes a frame\n", sizes[i].width, sizes[i].height,
			(paper_bytes(&p) - before) / 60);
		CHECK((paper_bytes(&p) - before) / 60 < 1000);
		paper_close(&p);
	}
}

/* Call site ids and the past belong to one image of the program. */
TEST(another_process_is_shown_as_of_now)
{
	char text[256];

	begin();
	paper_keys(&p, "((s(");
	CHECK(p.ui.shown->moment == SNAP_RANGE);
	canned_process_show(&p.canned, 101, text, sizeof(text));
	refresh_tick(&p.ui);
	refresh_tick(&p.ui);
	CHECK(is_live() && sees("sort LIVE"));
	CHECK(!p.ui.moments.has_start);
	paper_close(&p);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	RUN(a_step_back_shows_that_tick);
	RUN(new_ticks_do_not_move_the_past);
	RUN(f_always_brings_the_newest_moment);
	RUN(esc_space_end_and_the_last_step_bring_it_too);
	RUN(home_and_end_belong_to_what_moved_last);
	RUN(leaps_columns_and_ends);
	RUN(jumps);
	RUN(times_on_the_axis_are_apart);
	RUN(marks_are_found_on_the_line);
	RUN(a_range_counts_what_is_between);
	RUN(the_newest_tick_can_end_a_range);
	RUN(p_shows_the_peak_and_returns);
	RUN(every_view_has_the_badge);
	RUN(views_of_now_say_that_they_are);
	RUN(a_site_that_did_not_exist_says_so);
	RUN(frozen_is_not_past);
	RUN(a_click_and_a_drag_move_the_cursor);
	RUN(the_spike_is_seen_at_every_size);
	RUN(a_new_size_keeps_the_moment);
	RUN(the_table_keeps_its_room_on_24_lines);
	RUN(without_a_past_all_is_as_before);
	RUN(hostile_time_lines);
	RUN(equal_times_do_not_hold_the_cursor);
	RUN(a_recording_has_an_end_and_no_live);
	RUN(the_recording_is_shown);
	RUN(a_recording_without_a_past_in_memory);
	RUN(the_first_snapshot_may_be_of_the_past);
	RUN(moving_the_cursor_takes_no_tick);
	RUN(a_growing_line_is_not_repainted);
	RUN(another_process_is_shown_as_of_now);
	return check_end();
}
