/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline resampled to any width: every extreme is in some cell, whatever the times are. */
#include <stdlib.h>
#include "tests/check.h"
#include "src/model/strip.h"

#define S    1000000000ull
#define MANY 1000000

static struct strip strip;

static struct timeline line_of(struct timeline_point *p, size_t n)
{
	return (struct timeline){ .points = p, .npoints = n };
}

/* Ticks of a second at 100 bytes, with one spike of 900 between two of them and one fall to 3. */
static struct timeline_point *spiky(size_t n, size_t spike, size_t fall)
{
	struct timeline_point *p = calloc(n, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = (struct timeline_point){ .ns = i * S,
			.live_bytes = 100,
			.low_bytes = i == fall ? 3 : 100,
			.high_bytes = i == spike ? 900 : 100 };
	return p;
}

TEST(a_spike_is_in_a_cell_at_every_width)
{
	struct timeline_point *p = spiky(5000, 1234, 4321);
	struct timeline t = line_of(p, 5000);

	for (unsigned cells = 1; cells <= STRIP_CELLS; cells++) {
		unsigned spikes = 0, falls = 0;

		strip_make(&strip, &t, cells);
		CHECK(strip.count >= 1 && strip.count <= cells);
		for (unsigned i = 0; i < strip.count; i++) {
			spikes += strip.cell[i].high == 900;
			falls += strip.cell[i].low == 3;
		}
		CHECK_INT(spikes, 1);
		CHECK_INT(falls, 1);
		CHECK_INT(strip.high_cell, strip_cell_at(&strip, 1234 * S));
		CHECK_INT(strip.cell[strip_cell_at(&strip, 4321 * S)].low, 3);
	}
	free(p);
}

/* Cells that moved at each tick would be repainted at each tick. */
TEST(cells_stay_while_it_grows)
{
	struct timeline_point *p = spiky(4000, 5, 9);
	unsigned changes = 0;
	uint64_t step = 0;

	for (size_t n = 2; n < 4000; n++) {
		struct timeline t = line_of(p, n);

		strip_make(&strip, &t, 60);
		CHECK(n < 60 || strip.count >= 45);
		changes += strip.step_ns != step;
		step = strip.step_ns;
	}
	CHECK(changes < 40);
	free(p);
}

TEST(a_cell_stands_for_its_highest_tick)
{
	struct timeline_point p[] = { { .ns = 1 * S, .live_bytes = 5 },
		{ .ns = 2 * S, .live_bytes = 9 }, { .ns = 3 * S, .live_bytes = 7 },
		{ .ns = 90 * S, .live_bytes = 1 } };
	struct timeline t = line_of(p, 4);

	strip_make(&strip, &t, 10);
	CHECK_INT(strip.cell[0].point, 1);
	CHECK_INT(strip.cell[0].last, 2);
	CHECK_INT(strip.cell[1].point, 2); /* no tick there: the last one before */
	CHECK(!strip.cell[1].has_point && strip.cell[1].known);
	CHECK_INT(strip.cell[1].high, 7);
	CHECK_INT(strip.cell[strip.count - 1].point, 3);
}

/* Attached late: most of the time before the first tick is left out. */
TEST(it_begins_where_ticks_do)
{
	struct timeline_point p[] = { { .ns = 1000 * S, .live_bytes = 5 },
		{ .ns = 1010 * S, .live_bytes = 9 } };
	struct timeline t = line_of(p, 2);

	strip_make(&strip, &t, 20);
	CHECK(strip.from_ns > 990 * S && strip.from_ns <= 1000 * S);
	p[0].ns = 10 * S;
	strip_make(&strip, &t, 20);
	CHECK_INT(strip.from_ns, 0);
	CHECK(!strip.cell[0].has_point || strip.cell[0].known);
}

TEST(hostile_times_are_no_trouble)
{
	struct timeline_point one = { .ns = 7, .live_bytes = 1 };
	struct timeline_point same[] = { { .ns = S, .live_bytes = 1 }, { .ns = S, .live_bytes = 9 },
		{ .ns = S, .live_bytes = 2 } };
	struct timeline_point wild[] = { { .ns = UINT64_MAX, .live_bytes = UINT64_MAX },
		{ .ns = 0, .live_bytes = 0, .low_bytes = UINT64_MAX }, { .ns = UINT64_MAX } };
	struct timeline t = line_of(&one, 1);

	for (unsigned cells = 1; cells < 300; cells++) {
		t = line_of(&one, 1);
		strip_make(&strip, &t, cells);
		CHECK_INT(strip.count, 1);
		t = line_of(same, 3);
		strip_make(&strip, &t, cells);
		CHECK_INT(strip.high, 9);
		t = line_of(wild, 3);
		strip_make(&strip, &t, cells);
		CHECK(strip.count >= 1 && strip.count <= cells);
		CHECK(strip_cell_at(&strip, 0) < strip.count);
	}
	strip_make(&strip, NULL, 80);
	CHECK_INT(strip.count, 0);
	t = line_of(&one, 0);
	strip_make(&strip, &t, 80);
	CHECK_INT(strip.count, 0);
}

TEST(a_million_ticks)
{
	struct timeline_point *p = spiky(MANY, 777777, 3);
	struct timeline t = line_of(p, MANY);

	strip_make(&strip, &t, 180);
	CHECK_INT(strip.high, 900);
	CHECK_INT(strip.high_cell, strip_cell_at(&strip, 777777 * S));
	free(p);
}

/* A ramp of three, a step of the same height as its middle, and a small one. */
TEST(rises_from_the_largest_on)
{
	static const uint64_t live[] = { 0, 10, 60, 90, 90, 140, 140, 145, 100 };
	struct timeline_point p[9] = { { 0 } };
	struct timeline t = line_of(p, 9);
	size_t at = 0;

	for (size_t i = 0; i < 9; i++)
		p[i] = (struct timeline_point){ .ns = i * S, .live_bytes = live[i] };
	CHECK_INT(at = timeline_jump(&t, at), 2);
	CHECK_INT(timeline_rise(&t, at), 50);
	CHECK_INT(at = timeline_jump(&t, at), 5);
	CHECK_INT(at = timeline_jump(&t, at), 7);
	CHECK_INT(timeline_jump(&t, at), 0);
	CHECK_INT(timeline_rise(&t, 8), 0);
	CHECK_INT(timeline_rise(&t, 9), 0);
	t.npoints = 1;
	CHECK_INT(timeline_jump(&t, 0), 0);
}

/* A program that loads 1,000 in its first seconds in its first seconds: its later rises
 * come first, unless they are next to nothing, or it was not seen from its start. */
TEST(the_start_is_the_last_of_the_rises)
{
	struct timeline_point p[100];
	struct timeline t = line_of(p, 100);
	size_t at = 0;

	for (size_t i = 0; i < 100; i++)
		p[i] = (struct timeline_point){ .ns = i * S,
			.live_bytes = i == 0   ? 100
				      : i == 1 ? 600
					       : 1000 };
	for (size_t i = 50; i < 100; i++)
		p[i].live_bytes = i < 60 ? 1020 : 1100;
	CHECK_INT(timeline_start(&t), 2);
	CHECK_INT(at = timeline_jump(&t, at), 60);
	CHECK_INT(at = timeline_jump(&t, at), 50);
	CHECK_INT(at = timeline_jump(&t, at), 1);
	CHECK_INT(timeline_jump(&t, at), 0);
	/* Less than a hundredth: what rose is the start. */
	for (size_t i = 50; i < 100; i++)
		p[i].live_bytes = 1009;
	CHECK_INT(timeline_start(&t), 0);
	CHECK_INT(at = timeline_jump(&t, 0), 1);
	CHECK_INT(timeline_jump(&t, at), 50);
	/* Seen from its fiftieth second on: its first rise is one like others. */
	for (size_t i = 0; i < 100; i++)
		p[i].ns += 50 * S;
	p[99].live_bytes = 1100;
	CHECK_INT(timeline_start(&t), 0);
	CHECK_INT(timeline_jump(&t, 0), 1);
	/* Half of its time is no start. */
	for (size_t i = 0; i < 100; i++)
		p[i] = (struct timeline_point){ .ns = i * S, .live_bytes = i < 50 ? i * i : 2500 };
	p[80].live_bytes = 5000;
	CHECK_INT(timeline_start(&t), 9);
	CHECK_INT(at = timeline_jump(&t, 0), 80);
	CHECK(timeline_jump(&t, at) > 9);
}

int main(void)
{
	RUN(a_spike_is_in_a_cell_at_every_width);
	RUN(cells_stay_while_it_grows);
	RUN(a_cell_stands_for_its_highest_tick);
	RUN(it_begins_where_ticks_do);
	RUN(rises_from_the_largest_on);
	RUN(the_start_is_the_last_of_the_rises);
	RUN(hostile_times_are_no_trouble);
	RUN(a_million_ticks);
	return check_end();
}
