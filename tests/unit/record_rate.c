/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a recording may grow: which ticks are left out, and that the others are exact. */
#include "src/record/allowance.h"
#include "tests/unit/record_file_fixture.h"

#define TICKS 400u
#define SITES 1500u

static struct recording_writer *create_hourly(uint64_t hourly)
{
	return recording_create(path,
		&(struct recording_options){ .hourly_bytes = hourly, .version = "0.1" }, message);
}

/* Bytes a tick of such a program takes, when none is left out. */
static size_t tick_bytes(void)
{
	struct recording_writer *w = create(0);
	struct program p;
	size_t before;

	program_init(&p, 7, SITES);
	program_unusual(&p);
	for (unsigned i = 0; i < 20; i++) {
		program_tick(&p, S_NS, 95);
		add(w, &p);
	}
	before = file_size(path);
	for (unsigned i = 0; i < 40; i++) {
		program_tick(&p, S_NS, 95);
		add(w, &p);
	}
	before = (file_size(path) - before) / 40;
	CHECK_INT(recording_left_out(w), 0);
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
	return before;
}

/* Each tick of the file is one that was added; none is further than `most_ns` from the next. */
static void kept_compare(struct recording *r, struct snapshot **tick, uint64_t most_ns)
{
	const struct timeline *t = history_timeline(recording_history(r, 0));
	struct snapshot *last = recording_last(r, 0), *s;
	uint64_t high = 0, kept_high = 0, low = UINT64_MAX, kept_low = UINT64_MAX;

	CHECK(t->npoints > 0);
	CHECK_INT(t->points[t->npoints - 1].ns, tick[TICKS - 1]->uptime_ns);
	for (size_t i = 0; i < t->npoints; i++) {
		size_t k = t->points[i].ns / S_NS - 1;

		CHECK(i == 0 || t->points[i].ns - t->points[i - 1].ns <= most_ns);
		if (t->points[i].high_bytes > kept_high)
			kept_high = t->points[i].high_bytes;
		if (t->points[i].low_bytes < kept_low)
			kept_low = t->points[i].low_bytes;
		/* Each takes the ticks before it. */
		if (i % 7)
			continue;
		s = past(r, 0, last, t->points[i].ns);
		CHECK(s != NULL && k < TICKS);
		if (s && k < TICKS)
			snapshot_compare(s, tick[k]);
		snapshot_unref(s);
	}
	for (size_t i = 0; i < TICKS; i++) {
		if (tick[i]->totals.live_bytes > high)
			high = tick[i]->totals.live_bytes;
		if (tick[i]->totals.live_bytes < low)
			low = tick[i]->totals.live_bytes;
	}
	CHECK_INT(kept_high, high);
	CHECK_INT(kept_low, low);
	snapshot_unref(last);
}

TEST(a_busy_program_keeps_to_the_rate)
{
	/* Every third tick or so fits. */
	uint64_t hourly = tick_bytes() * 1200, minute = hourly / 60;
	struct recording_writer *w = create_hourly(hourly);
	struct snapshot *tick[TICKS];
	struct recording *r;
	struct program p;
	size_t before = 0;
	uint64_t live;

	program_init(&p, 7, SITES);
	for (unsigned i = 0; i < TICKS; i++) {
		program_tick(&p, S_NS, 95);
		/* A spike between the ticks that are kept, which no peak reports, and dips. */
		live = p.head.totals.live_bytes;
		p.head.totals.live_bytes = i % 10 == 5 ? 0 : live + (i == 301 ? 1u << 30 : 0);
		tick[i] = program_snapshot(&p);
		p.head.totals.live_bytes = live;
		CHECK_INT(recording_add(w, tick[i]), 0);
		if (i == 99)
			before = file_size(path);
	}
	CHECK(file_size(path) - before <= 5 * minute + minute / 4);
	CHECK(file_size(path) - before >= 4 * minute);
	CHECK(recording_left_out(w) > TICKS / 3 && recording_left_out(w) < TICKS * 3 / 4);
	CHECK_INT(recording_end(w, tick[TICKS - 1]), 0);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	kept_compare(r, tick, 10 * S_NS);
	recording_free(r);
	for (unsigned i = 0; i < TICKS; i++)
		snapshot_unref(tick[i]);
	program_free(&p);
}

/* However little is allowed. */
TEST(ten_seconds_are_the_longest_gap)
{
	struct recording_writer *w = create_hourly(20000);
	struct snapshot *tick[TICKS];
	struct recording *r;
	struct program p;

	program_init(&p, 7, SITES);
	for (unsigned i = 0; i < TICKS; i++) {
		program_tick(&p, S_NS, 95);
		tick[i] = program_snapshot(&p);
		CHECK_INT(recording_add(w, tick[i]), 0);
	}
	CHECK(recording_left_out(w) > TICKS / 2);
	CHECK_INT(recording_end(w, tick[TICKS - 1]), 0);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	kept_compare(r, tick, 11 * S_NS);
	recording_free(r);
	for (unsigned i = 0; i < TICKS; i++)
		snapshot_unref(tick[i]);
	program_free(&p);
}

TEST(marks_and_the_end_are_never_left_out)
{
	struct recording_writer *w = create_hourly(20000);
	struct snap_mark mark = { .number = 1, .ns = 77 * S_NS };
	const struct timeline *t;
	struct recording *r;
	struct program p;
	bool found = false;

	program_init(&p, 7, SITES);
	for (unsigned i = 1; i <= 97; i++) {
		program_tick(&p, S_NS, 95);
		if (i == 70)
			add(w, &p);
		if (i == 77)
			p.head.moments = &mark;
		add(w, &p);
	}
	p.head.state = SNAP_EXITED;
	add(w, &p);
	r = reopen(path);
	t = history_timeline(recording_history(r, 0));
	for (size_t i = 0; i < t->npoints; i++)
		found |= t->points[i].ns == 77 * S_NS;
	CHECK(found);
	CHECK_INT(t->points[t->npoints - 1].ns / S_NS, 97);
	CHECK(t->npoints < 60);
	recording_free(r);
	CHECK_INT(recording_close(w), 0);
	program_free(&p);
}

/* A large image does not take all of the turns. */
TEST(streams_take_turns)
{
	struct recording_writer *w = create_hourly(400000);
	struct recording *r;
	struct program large, small;
	size_t a, b;

	program_init(&large, 7, SITES);
	program_init(&small, 8, 5);
	for (unsigned i = 0; i < 200; i++) {
		program_tick(&large, S_NS, 95);
		program_tick(&small, S_NS, 95);
		add(w, &large);
		add(w, &small);
	}
	CHECK(recording_left_out(w) > 100);
	CHECK_INT(recording_close(w), 0);
	r = reopen(path);
	a = history_timeline(recording_history(r, 0))->npoints;
	b = history_timeline(recording_history(r, 1))->npoints;
	CHECK(a > 10 && b + 1 >= a && a + 1 >= b);
	recording_free(r);
	program_free(&large);
	program_free(&small);
}

/* Images that started before and after a step of the clock: what they write together. */
static void stepped_check(int64_t step_ns)
{
	uint64_t hourly = tick_bytes() * 1200, begin = 0;
	struct recording_writer *w = create_hourly(hourly);
	struct program a, b;

	program_init(&a, 7, SITES);
	program_init(&b, 8, SITES);
	b.head.start_realtime_ns += (uint64_t)step_ns;
	for (unsigned i = 0; i < 300; i++) {
		if (i == 200)
			begin = file_size(path);
		program_tick(&a, S_NS, 95);
		program_tick(&b, S_NS, 95);
		add(w, &a);
		add(w, &b);
	}
	/* The rate holds in the last 100 s, and is used. */
	CHECK(recording_left_out(w) < 590);
	CHECK(file_size(path) - begin < hourly / 36 * 3 / 2);
	CHECK_INT(recording_close(w), 0);
	program_free(&a);
	program_free(&b);
}

TEST(a_step_of_the_clock_brings_nothing)
{
	stepped_check(0);
	stepped_check(5 * (int64_t)S_NS);
	stepped_check(3600 * (int64_t)S_NS);
	stepped_check(-3600 * (int64_t)S_NS);
}

TEST(allowances)
{
	struct allowance a;
	uint32_t turn = 0;

	allowance_begin(&a, 0);
	allowance_pay(&a, UINT64_MAX);
	CHECK(allowance_take(&a, 1, &turn) && allowance_take(&a, 1, &turn));
	allowance_begin(&a, 3600);
	CHECK(allowance_take(&a, 100 * S_NS, &turn));
	allowance_pay(&a, 61);
	CHECK(!allowance_take(&a, 100 * S_NS, &turn));
	/* A clock that steps back brings nothing, and what follows is counted from there. */
	CHECK(!allowance_take(&a, 50 * S_NS, &turn));
	CHECK(allowance_take(&a, 52 * S_NS, &turn));
	/* What is saved is bounded. */
	CHECK(allowance_take(&a, UINT64_MAX, &turn));
	allowance_pay(&a, 61);
	CHECK(!allowance_take(&a, UINT64_MAX, &turn));
}

int main(void)
{
	folder_make();
	RUN(a_busy_program_keeps_to_the_rate);
	RUN(ten_seconds_are_the_longest_gap);
	RUN(marks_and_the_end_are_never_left_out);
	RUN(streams_take_turns);
	RUN(a_step_of_the_clock_brings_nothing);
	RUN(allowances);
	folder_remove();
	return check_end();
}
