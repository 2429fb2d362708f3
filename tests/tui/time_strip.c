/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as it is drawn: at every size, with every past, and under the mouse. */
#include "tests/tui/timed.h"

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
		CHECK(strstr(paper_line(&p, p.ui.layout.y[ROW_HISTORY]), "▇"));
	}
	paper_close(&p);
}

TEST(large_counts_are_whole)
{
	begin();
	p.canned.nsites = 17052;
	seconds(1);
	p.ui.current->totals.live_blocks = 466472;
	CHECK(sees("466.5k blocks 17,052 sites"));
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

TEST(hostile_timelines)
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

#define MANY 1000000

static struct timeline many_line = { .npoints = MANY };

static const struct timeline *many_timeline(void *ctx)
{
	return &many_line;
}

TEST(a_million_ticks)
{
	struct timeline_point *points = calloc(MANY, sizeof(*points));

	for (size_t i = 0; i < MANY; i++)
		points[i] = (struct timeline_point){ .ns = i * CANNED_S,
			.live_bytes = i == MANY / 3 ? 5000 : i % 7 };
	many_line.points = points;
	begin_at(50, 180);
	p.canned.seconds = MANY;
	p.source.timeline = many_timeline;
	refresh_tick(&p.ui);
	paper_keys(&p, "^");
	CHECK_INT(at(), MANY / 3);
	CHECK(sees("PAST 3d 20:35:33 of 11d 13:46:4") && sees("4.9k"));
	paper_keys(&p, "J");
	CHECK_INT(at(), MANY / 3);
	paper_keys(&p, "((,,)..s()F");
	CHECK(is_live());
	paper_close(&p);
	free(points);
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
	CHECK(sees("PAST 12:40 of 12:41") && sees("F the end") && !sees("F LIVE"));
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
	CHECK(is_live() && sees("no history is kept"));
	paper_close(&p);
}

/* As without a timeline (growth.c, flat.c): about what changed is sent. */
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

int main(void)
{
	setenv("TZ", "UTC", 1);
	RUN(times_on_the_axis_are_apart);
	RUN(a_click_and_a_drag_move_the_cursor);
	RUN(the_spike_is_seen_at_every_size);
	RUN(large_counts_are_whole);
	RUN(a_new_size_keeps_the_moment);
	RUN(the_table_keeps_its_room_on_24_lines);
	RUN(hostile_timelines);
	RUN(a_million_ticks);
	RUN(a_recording_has_an_end_and_no_live);
	RUN(the_recording_is_shown);
	RUN(a_recording_without_a_past_in_memory);
	RUN(a_growing_line_is_not_repainted);
	return check_end();
}
