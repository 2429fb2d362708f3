/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another moment than now on the screen: the cursor on the timeline, ranges, the peak, what says
 * so, and the ways back.
 */
#include "tests/tui/timed.h"

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
	CHECK(sees("the highest tick") && sees("the peak was 655.0M") && sees("▲9:12") == false &&
		sees("PAST 9:12 of"));
	paper_keys(&p, "FJ");
	CHECK_INT(at(), CANNED_SPIKE);
	CHECK(sees("largest rise: +"));
	paper_keys(&p, "s,");
	CHECK(sees("RANGE 9:11-9:12") && sees("SINCE▼"));
	paper_keys(&p, "F");
	CHECK(sees("sort LIVE") && sees("▲9:12"));
	/* From one rise to the next largest; after another key it begins anew. */
	paper_keys(&p, "JJ");
	CHECK(at() != CANNED_SPIKE && sees("rise 2: +"));
	paper_keys(&p, "J");
	CHECK(sees("rise 3: +"));
	paper_keys(&p, ",J");
	CHECK_INT(at(), CANNED_SPIKE);
	CHECK(sees("the largest rise: +"));
	paper_close(&p);
}

/* The highest kept tick may be before the peak. */
TEST(the_peak_of_all_time_is_named)
{
	begin();
	p.canned.few = 400;
	p.canned.still = true;
	p.canned.seconds = 500;
	refresh_tick(&p.ui);
	paper_keys(&p, "^");
	CHECK(at() < 552 && sees("the peak was 655.0M"));
	paper_close(&p);
}

/* The largest rise of the ticks is then not what the graph shows. */
TEST(a_jump_names_the_peak_between_two_ticks)
{
	begin();
	p.canned.between = 300;
	seconds(1);
	paper_keys(&p, "J");
	CHECK_INT(at(), CANNED_SPIKE);
	CHECK(sees("largest rise: +") && sees("P shows the peak of ") && !sees("J again"));
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

/* Ten seconds: each view has what happened in them. */
TEST(a_range_in_every_view)
{
	begin();
	p.canned.still = true;
	paper_keys(&p, ",s,,,,,,,,,,");
	ui_tab(&p.ui, VIEW_TREE);
	CHECK(sees("3SINCE▼") && sees("4ALLOC") && sees("5FREED") && !sees("RATE"));
	CHECK(!sees("as of"));
	/* The shard's 1.1 MB/s; it is the first line below the common callers. */
	CHECK(strstr(paper_line(&p, paper_find(&p, "Shard::insert")), "+10.5M") != NULL);
	paper_keys(&p, "i3"); /* inverted; the order is reversed */
	CHECK(sees("CALLERS") && sees("3SINCE▲"));
	ui_tab(&p.ui, VIEW_MODULES);
	CHECK(sees("2SINCE▼") && sees("3ALLOC") && !sees("RATE"));
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "+14.") != NULL);
	ui_tab(&p.ui, VIEW_THREADS);
	CHECK(sees("1ALLOC▼") && sees("what each did in the range") && !sees("as of"));
	CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "900.0k") &&
		strstr(paper_line(&p, p.ui.layout.y[ROW_BODY]), "parser"));
	ui_tab(&p.ui, VIEW_SIZES);
	CHECK(sees("in the range   27,000 blocks allocated, 9,000 freed"));
	CHECK(sees("blocks allocated in the range") && sees("blocks freed in the range"));
	CHECK(!sees("as of"));
	/* And the order of before after it. */
	ui_tab(&p.ui, VIEW_TREE);
	paper_keys(&p, "F");
	CHECK(sees("1TOTAL▼") && sees("4RATE") && !sees("SINCE"));
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
	CHECK(sees("known only for the present"));
	paper_keys(&p, "M");
	CHECK(sees("mapped memory is not recorded for this moment"));
	paper_keys(&p, "F,M");
	CHECK(sees("the program has mapped no memory itself"));
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
	paper_keys(&p, ",");
	CHECK(!sees("Space freeze") && !sees("Space unfreeze"));
	paper_keys(&p, "F");
	CHECK(sees("Space freeze"));
	paper_keys(&p, " ");
	seconds(5);
	CHECK(sees("FROZEN") && !sees("PAST"));
	/* From there one steps on the line. */
	paper_keys(&p, ",");
	CHECK(!p.ui.frozen && sees("PAST 12:40") && !sees("FROZEN"));
	paper_close(&p);
}

/* A file of all events, opened with --at: there is nowhere to go. */
TEST(a_moment_that_is_all_there_is)
{
	begin();
	paper_keys(&p, "s((");
	p.source.timeline = NULL;
	refresh_tick(&p.ui);
	CHECK(sees("RANGE ") && sees("allocated ") && !sees("F LIVE") && !sees("s ends it"));
	CHECK(!sees("s end range") && !sees("Space "));
	paper_keys(&p, "F");
	CHECK(sees("RANGE ") && sees("--at chooses another"));
	screen_key(&p.ui, KEY_ESC);
	CHECK(sees("RANGE "));
	paper_keys(&p, "P");
	CHECK(sees("PEAK 9:12") && sees("F LIVE"));
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
	CHECK(is_live() && sees("no history is kept"));
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

/* As with -r FILE --at 9:12. */
TEST(the_first_snapshot_may_be_of_the_past)
{
	paper_open(&p, 30, 100, false);
	p.canned.past = p.canned.still = true;
	p.canned.moment = (struct moment){
		.kind = SNAP_RANGE, .ns = 552 * CANNED_S, .from_ns = 500 * CANNED_S
	};
	refresh_tick(&p.ui);
	CHECK(sees("RANGE 8:20-9:12") && sees("SINCE▼"));
	paper_keys(&p, ".");
	CHECK(sees("RANGE 8:20-9:13"));
	paper_keys(&p, "s,");
	CHECK(sees("PAST 9:12 of"));
	paper_close(&p);
}

/* Where one end of a range needs tenths of seconds, both have them. */
TEST(both_ends_of_a_range_are_as_exact)
{
	static const uint64_t at_ms[] = { 500000, 500400, 552000, 560000, 561000 };

	paper_open(&p, 30, 100, false);
	for (size_t i = 0; i < 5; i++)
		same[i] = (struct timeline_point){ .ns = at_ms[i] * (CANNED_S / 1000) };
	p.source.timeline = same_timeline;
	p.canned.past = p.canned.still = true;
	p.canned.moment = (struct moment){
		.kind = SNAP_RANGE, .ns = 552 * CANNED_S, .from_ns = 500 * CANNED_S
	};
	refresh_tick(&p.ui);
	CHECK(sees("RANGE 8:20.0-9:12.0"));
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

/* A recording knows that instant of the other process, too. */
TEST(a_replay_keeps_the_instant_of_another_process)
{
	uint64_t then;

	begin();
	p.canned.replayed = p.canned.still = true;
	refresh_tick(&p.ui);
	paper_keys(&p, "((");
	then = p.ui.shown->uptime_ns;
	CHECK(then < p.canned.seconds * CANNED_S);
	paper_keys(&p, "pj\r");
	for (int i = 0; i < 2; i++) {
		CHECK_INT(p.ui.shown->pid, 4300);
		CHECK(p.ui.shown->moment == SNAP_PAST && p.ui.moments.cursor_ns == then);
		CHECK_INT(p.ui.shown->uptime_ns, then);
		refresh_tick(&p.ui);
	}
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
	RUN(the_peak_of_all_time_is_named);
	RUN(a_jump_names_the_peak_between_two_ticks);
	RUN(marks_are_found_on_the_line);
	RUN(a_range_counts_what_is_between);
	RUN(a_range_in_every_view);
	RUN(the_newest_tick_can_end_a_range);
	RUN(p_shows_the_peak_and_returns);
	RUN(every_view_has_the_badge);
	RUN(views_of_now_say_that_they_are);
	RUN(a_site_that_did_not_exist_says_so);
	RUN(frozen_is_not_past);
	RUN(a_moment_that_is_all_there_is);
	RUN(without_a_past_all_is_as_before);
	RUN(equal_times_do_not_hold_the_cursor);
	RUN(the_first_snapshot_may_be_of_the_past);
	RUN(both_ends_of_a_range_are_as_exact);
	RUN(moving_the_cursor_takes_no_tick);
	RUN(another_process_is_shown_as_of_now);
	RUN(a_replay_keeps_the_instant_of_another_process);
	return check_end();
}
