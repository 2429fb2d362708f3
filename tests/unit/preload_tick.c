/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time in the program, with a clock of ours: how often it is read, what is published, and that
 * it never runs back. The file itself is compiled in.
 */
#include <time.h>

#include <stdint.h>

static int given_time(clockid_t id, struct timespec *t);
static uint64_t given_cycles(void);
#define clock_gettime	       given_time
#define __builtin_ia32_rdtsc() given_cycles()
#include "preload/recorder.h"
#include "shm/before.h"
#include "shm/history.h"
#include "shm/live_entry.h"

static uint64_t paused_load(const uint64_t *word);
#define ht_load_relaxed_64 paused_load
#include "preload/clock.c"
#undef ht_load_relaxed_64
#include "preload/tick.c"
#undef clock_gettime

#include "tests/unit/shm_fixture.h"

struct segment state_segment;
__thread struct state_thread state_thread;

static struct fixture fixture;
static uint64_t time_ns;
static unsigned looks, asked, switched;
static struct recorder recorder;
static uint64_t overtaken_by; /* what another thread publishes while this one pauses; 0: none */

/* A load in clock.c, after which the thread pauses. */
static uint64_t paused_load(const uint64_t *word)
{
	uint64_t loaded = ht_load_relaxed_64(word);

	if (overtaken_by != 0)
		ht_store_relaxed_64(&state_segment.header->clock_ns, overtaken_by);
	overtaken_by = 0;
	return loaded;
}

/* Four cycles a nanosecond. */
static uint64_t given_cycles(void)
{
	looks++;
	return 4 * time_ns;
}

static int given_time(clockid_t id, struct timespec *t)
{
	asked++;
	*t = (struct timespec){ (time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000) };
	if (id == CLOCK_REALTIME)
		t->tv_sec += 1000000;
	return 0;
}

void sample_serve(struct recorder *r)
{
	switched++;
}

void recorder_switch_events(struct recorder *r)
{
	r->events = !r->events;
}

static void begin(void)
{
	fixture_open(&fixture, SEGMENT_SMALL);
	state_segment = fixture.s;
	recorder = (struct recorder){ .clock_interval = 1 };
	time_ns = FIXTURE_CREATED_NS;
	looks = asked = 0;
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
	clock_publish();
	CHECK_INT(fixture.s.header->clock_ns, time_ns);
	CHECK_INT(segment_birth(&fixture.s), 1000000000 >> HT_TICK_SHIFT);
	CHECK_INT(tick_now(&recorder), (time_ns - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT);
	end();
}

/* Another thread has seen a later time: it stays. */
TEST(never_back)
{
	begin();
	fixture.s.header->clock_ns = time_ns + 500;
	clock_publish();
	CHECK_INT(fixture.s.header->clock_ns, time_ns + 500);
	end();
}

/* It does so only after this thread has read the clock word. */
TEST(never_back_after_a_pause)
{
	begin();
	overtaken_by = time_ns + 5000000;
	time_ns += 1000;
	clock_publish();
	CHECK_INT(overtaken_by, 0);
	CHECK_INT(fixture.s.header->clock_ns, FIXTURE_CREATED_NS + 5000000);
	time_ns = FIXTURE_CREATED_NS + 6000000;
	overtaken_by = FIXTURE_CREATED_NS + 5500000;
	clock_publish();
	CHECK_INT(fixture.s.header->clock_ns, time_ns);
	end();
}

/* Events a nanosecond apart: one look in up to INTERVAL_MAX. */
TEST(busy_thread)
{
	begin();
	for (unsigned i = 0; i < 6400; i++) {
		time_ns++;
		tick_now(&recorder);
	}
	CHECK(looks >= 6400 / INTERVAL_MAX && looks <= 6400 / INTERVAL_MAX + 7);
	CHECK(asked <= 1 + 6400 * 4 / PUBLISH_CYCLES);
	CHECK_INT(recorder.clock_interval, INTERVAL_MAX);
	end();
}

/* Events far apart: a look at each, so that none is stamped with an old time. */
TEST(idle_thread)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		time_ns += APART_CYCLES;
		CHECK_INT(tick_now(&recorder), (time_ns - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT);
	}
	CHECK_INT(looks, 100);
	end();
}

/* Busy, then idle: after the last events under its last busy look it is exact again. */
TEST(busy_then_idle)
{
	begin();
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	for (unsigned i = 0; i < INTERVAL_MAX; i++) {
		time_ns += APART_CYCLES;
		tick_now(&recorder);
	}
	for (unsigned i = 0; i < 10; i++) {
		time_ns += APART_CYCLES;
		CHECK_INT(tick_now(&recorder), (time_ns - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT);
	}
	end();
}

/* A thread that has not looked yet, whose words are zero, looks at once. */
TEST(first_event)
{
	begin();
	recorder = (struct recorder){ 0 };
	time_ns += 5000000;
	CHECK_INT(tick_now(&recorder), (time_ns - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT);
	CHECK_INT(looks, 1);
	end();
}

/* What other threads settled, and what this one has not yet. */
TEST(history)
{
	struct ht_thread *t;

	begin();
	t = thread_at(&fixture.s, 1);
	fixture.s.header->live_bytes = 1234;
	time_ns += 15000000;
	clock_publish();
	CHECK_INT(fixture.s.header->history.points, 2);
	CHECK_INT(fixture.s.header->history.point[1], 1234);
	t->live_bytes = 1000;
	t->share.settled = 200;
	recorder.slot = 1;
	state_thread.recorder = &recorder;
	clock_publish();
	CHECK_INT(fixture.s.header->history.point[1], 1234 + 800);
	state_thread.recorder = NULL;
	end();
}

/* A viewer's write is seen within as many events as lie between two readings of the clock. */
TEST(a_switch_is_noticed)
{
	begin();
	switched = 0;
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	CHECK_INT(switched, 0);
	fixture.s.header->sample_bytes = 65536;
	for (unsigned i = 0; i < INTERVAL_MAX; i++)
		tick_now(&recorder);
	CHECK_INT(switched, 1);
	fixture.s.header->sample_bytes = 0;
	fixture.s.header->measure = 1;
	for (unsigned i = 0; i < INTERVAL_MAX; i++)
		tick_now(&recorder);
	CHECK_INT(switched, 2);
	end();
}

/* Events are written while a viewer wants them, and not for a viewer that is gone. */
TEST(events_begin_and_end)
{
	begin();
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	CHECK(!recorder.events);
	fixture.s.header->events_until = time_ns + 1000000;
	for (unsigned i = 0; i < INTERVAL_MAX; i++)
		tick_now(&recorder);
	CHECK(recorder.events);
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	CHECK(recorder.events);
	time_ns += 1000000;
	clock_publish();
	for (unsigned i = 0; i < INTERVAL_MAX; i++)
		tick_now(&recorder);
	CHECK(!recorder.events);
	end();
}

/* What is written is stamped with its own time, however long the thread has paused before. */
TEST(events_after_a_pause)
{
	begin();
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	fixture.s.header->events_until = UINT64_MAX;
	for (unsigned i = 0; i < INTERVAL_MAX; i++)
		tick_now(&recorder);
	CHECK(recorder.events);
	for (unsigned i = 0; i < 2 * INTERVAL_MAX; i++) {
		time_ns += i % 5 ? 1 : 1000000;
		CHECK_INT(tick_now(&recorder), (time_ns - FIXTURE_CREATED_NS) >> HT_TICK_SHIFT);
	}
	fixture.s.header->events_until = 0;
	for (unsigned i = 0; i < 1000; i++)
		tick_now(&recorder);
	CHECK(!recorder.events);
	CHECK_INT(recorder.clock_interval, INTERVAL_MAX);
	end();
}

int main(void)
{
	RUN(clocks);
	RUN(published);
	RUN(never_back);
	RUN(never_back_after_a_pause);
	RUN(busy_thread);
	RUN(idle_thread);
	RUN(busy_then_idle);
	RUN(first_event);
	RUN(history);
	RUN(a_switch_is_noticed);
	RUN(events_begin_and_end);
	RUN(events_after_a_pause);
	return check_end();
}
