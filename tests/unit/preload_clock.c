/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in the program, with a clock of ours: how often it is looked at, what is published, and that
 * it never runs back. The file itself is compiled in.
 */
#include <time.h>

static int told_time(clockid_t id, struct timespec *t);
#define clock_gettime told_time
#include "preload/clock.c"
#undef clock_gettime

#include "tests/unit/shm_fixture.h"

struct segment state_segment;
__thread struct state_thread state_thread;

static struct fixture fixture;
static uint64_t time_ns;
static unsigned looks;

static int told_time(clockid_t id, struct timespec *t)
{
	looks++;
	*t = (struct timespec){ (time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000) };
	if (id == CLOCK_REALTIME)
		t->tv_sec += 1000000;
	return 0;
}

static void begin(void)
{
	fixture_open(&fixture, SEGMENT_SMALL);
	state_segment = fixture.s;
	state_thread = (struct state_thread){ .clock_every = 1 };
	time_ns = FIXTURE_CREATED_NS;
	looks = 0;
}

static void end(void)
{
	fixture_close(&fixture);
}

TEST(clocks)
{
	begin();
	time_ns = 7000000123ull;
	CHECK_INT(clock_monotonic(), 7000000123ll);
	CHECK_INT(clock_realtime(), 1000007000000123ll);
	end();
}

TEST(published)
{
	begin();
	time_ns += 1000000000;
	clock_refresh();
	CHECK_INT(fixture.s.header->clock_ns, time_ns);
	CHECK_INT(clock_tick(), time_ns >> HT_TICK_SHIFT);
	end();
}

/* Another thread has seen a later time: it stays. */
TEST(never_back)
{
	begin();
	fixture.s.header->clock_ns = time_ns + 500;
	clock_refresh();
	CHECK_INT(fixture.s.header->clock_ns, time_ns + 500);
	end();
}

/* Events a nanosecond apart: one look in up to EVERY_MAX. */
TEST(busy_thread)
{
	begin();
	for (unsigned i = 0; i < 6400; i++) {
		time_ns++;
		clock_tick();
	}
	CHECK(looks >= 6400 / EVERY_MAX && looks <= 6400 / EVERY_MAX + 7);
	CHECK_INT(state_thread.clock_every, EVERY_MAX);
	end();
}

/* Events far apart: a look at each, so that none is stamped with an old time. */
TEST(idle_thread)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		time_ns += 2 * NEAR_NS;
		CHECK_INT(clock_tick(), time_ns >> HT_TICK_SHIFT);
	}
	CHECK_INT(looks, 100);
	end();
}

/* Busy, then idle: after the last events under its last busy look it is exact again. */
TEST(busy_then_idle)
{
	begin();
	for (unsigned i = 0; i < 1000; i++)
		clock_tick();
	for (unsigned i = 0; i < EVERY_MAX; i++) {
		time_ns += 2 * NEAR_NS;
		clock_tick();
	}
	for (unsigned i = 0; i < 10; i++) {
		time_ns += 2 * NEAR_NS;
		CHECK_INT(clock_tick(), time_ns >> HT_TICK_SHIFT);
	}
	end();
}

/* A thread that has not looked yet, whose words are zero, looks at once. */
TEST(first_event)
{
	begin();
	state_thread = (struct state_thread){ 0 };
	time_ns += 5000000;
	CHECK_INT(clock_tick(), time_ns >> HT_TICK_SHIFT);
	CHECK_INT(looks, 1);
	end();
}

/* The count of events left is a signal handler's away from passing zero: it may not run on. */
TEST(count_gone_wrong)
{
	begin();
	clock_refresh();
	state_thread.clock_left = UINT32_MAX - 3;
	looks = 0;
	clock_tick();
	CHECK_INT(looks, 1);
	CHECK(state_thread.clock_left <= EVERY_MAX);
	end();
}

TEST(history)
{
	begin();
	fixture.s.header->live_bytes = 1234;
	time_ns += 15000000;
	clock_refresh();
	CHECK_INT(fixture.s.header->history.points, 2);
	CHECK_INT(fixture.s.header->history.point[1], 1234);
	end();
}

int main(void)
{
	RUN(clocks);
	RUN(published);
	RUN(never_back);
	RUN(busy_thread);
	RUN(idle_thread);
	RUN(busy_then_idle);
	RUN(first_event);
	RUN(count_gone_wrong);
	RUN(history);
	return check_end();
}
