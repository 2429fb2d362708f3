/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting for a viewer, with a clock and naps of ours: how long a thread waits for one that has
 * gone, and that time in which nobody ran does not count. The file itself is compiled in.
 */
#include <time.h>
#include <unistd.h>

#include <stdint.h>

static long given_nap(const void *word, int op, int value, const struct timespec *t, ...);
#define syscall(number, ...) given_nap(__VA_ARGS__)
#include "preload/event_wait.c"
#undef syscall

#include "tests/unit/shm_fixture.h"

#define MS UINT64_C(1000000)

struct segment state_segment;
__thread struct state_thread state_thread;

static struct fixture fixture;
static struct recorder recorder, other;
static uint64_t time_ns;
static uint64_t naps_ns; /* asked for */
static uint64_t stall_ns; /* added to the next nap */
static uint64_t reads_after_ns; /* of naps: then the viewer reads all; 0: never */
static uint64_t ends_after_ns; /* then it takes its grant back; 0: never */
static uint64_t renews_after_ns; /* then it grants more; 0: never */

uint64_t clock_monotonic(void)
{
	return time_ns;
}

uint32_t state_pid(void)
{
	return fixture.s.header->pid;
}

bool unwind_cfi_in_handler(uintptr_t frame)
{
	return false;
}

static long given_nap(const void *word, int op, int value, const struct timespec *t, ...)
{
	uint64_t ns = (uint64_t)t->tv_nsec;

	time_ns += ns + stall_ns;
	naps_ns += ns;
	stall_ns = 0;
	if (reads_after_ns != 0 && naps_ns >= reads_after_ns)
		recorder.thread->ring_tail = recorder.thread->ring_head;
	if (ends_after_ns != 0 && naps_ns >= ends_after_ns)
		fixture.s.header->events_wait = 0;
	if (renews_after_ns != 0 && naps_ns >= renews_after_ns)
		fixture.s.header->events_wait = time_ns + HT_RING_WAIT_NS;
	return 0;
}

/* Two threads with full rings. The viewer's grant ends at `grant_ns`, from now on. */
static void begin(int64_t grant_ns)
{
	static struct ht_event ring[HT_RING_EVENTS];
	struct recorder *of[] = { &recorder, &other };

	fixture_open(&fixture, SEGMENT_SMALL);
	state_segment = fixture.s;
	for (uint32_t i = 0; i < 2; i++) {
		*of[i] = (struct recorder){
			.thread = thread_at(&fixture.s, i + 1), .slot = i + 1, .ring = ring
		};
		of[i]->thread->ring_head = HT_RING_EVENTS - 1;
	}
	time_ns = FIXTURE_CREATED_NS + 10000 * MS;
	fixture.s.header->events_wait = time_ns + (uint64_t)grant_ns;
	naps_ns = stall_ns = reads_after_ns = renews_after_ns = ends_after_ns = 0;
	grant_forsaken = 0;
}

static void end(void)
{
	fixture_close(&fixture);
}

/* It need not wait any more, or would overwrite what is not read. */
static bool has_waited(struct recorder *r)
{
	uint64_t head = r->thread->ring_head;

	return event_wait(r) == head + HT_RING_EVENTS - 1;
}

TEST(read_in_time)
{
	begin(200 * (int64_t)MS);
	reads_after_ns = 5 * MS;
	CHECK(has_waited(&recorder));
	CHECK(naps_ns >= 5 * MS && naps_ns < 7 * MS);
	CHECK_INT(fixture.s.header->events_waits, 1);
	CHECK_INT(fixture.s.header->events_waited_ns, naps_ns);
	end();
}

TEST(no_viewer_waits)
{
	begin(0);
	fixture.s.header->events_wait = 0;
	CHECK(!has_waited(&recorder));
	CHECK_INT(naps_ns, 0);
	end();
}

/* The grant ends, and the viewer is waited for a little longer: by one thread, once. */
TEST(viewer_has_gone)
{
	begin(20 * (int64_t)MS);
	CHECK(!has_waited(&recorder));
	CHECK(naps_ns >= 20 * MS + GRACE_NS && naps_ns < 24 * MS + GRACE_NS);
	naps_ns = 0;
	CHECK(!has_waited(&other));
	CHECK(!has_waited(&recorder));
	CHECK_INT(naps_ns, 0);
	fixture.s.header->events_wait = time_ns + 20 * MS; /* another one */
	CHECK(!has_waited(&other));
	CHECK(naps_ns >= 20 * MS);
	end();
}

/* A new image has that grant from its parent, and its own child has nothing from it. */
TEST(viewer_of_the_parent_has_gone)
{
	begin(HT_RING_WAIT_NS - 5 * (int64_t)MS);
	CHECK(!has_waited(&recorder));
	CHECK(naps_ns >= HT_RING_WAIT_NS && naps_ns < HT_RING_WAIT_NS + 4 * MS);
	CHECK(!event_wait_is_granted(fixture.s.header, time_ns));
	end();
}

/* It still grants time, but reads nothing. */
TEST(viewer_stands)
{
	begin(60000 * (int64_t)MS);
	CHECK(!has_waited(&recorder));
	CHECK(naps_ns >= HT_RING_WAIT_NS && naps_ns < HT_RING_WAIT_NS + 4 * MS);
	end();
}

/* The machine stands still while this thread naps: the viewer gets its time to renew the grant. */
TEST(stall_while_waiting)
{
	begin(100 * (int64_t)MS);
	stall_ns = 1500 * MS;
	renews_after_ns = 10 * MS;
	reads_after_ns = 300 * MS;
	CHECK(has_waited(&recorder));
	CHECK(naps_ns >= 300 * MS && naps_ns < 304 * MS);
	end();
}

/* It stood still before. */
TEST(stall_before)
{
	begin(-1500 * (int64_t)MS);
	renews_after_ns = 10 * MS;
	reads_after_ns = 300 * MS;
	CHECK(event_wait_is_granted(fixture.s.header, time_ns));
	CHECK(has_waited(&recorder));
	end();
	begin(-2500 * (int64_t)MS);
	CHECK(!event_wait_is_granted(fixture.s.header, time_ns));
	CHECK(!has_waited(&recorder));
	CHECK_INT(naps_ns, 0);
	end();
}

/* The viewer goes, and says so, while a thread waits. */
TEST(grant_taken_back)
{
	begin(100 * (int64_t)MS);
	ends_after_ns = 5 * MS;
	CHECK(!has_waited(&recorder));
	CHECK(naps_ns >= 5 * MS && naps_ns < 7 * MS);
	end();
}

int main(void)
{
	RUN(read_in_time);
	RUN(no_viewer_waits);
	RUN(viewer_has_gone);
	RUN(viewer_of_the_parent_has_gone);
	RUN(viewer_stands);
	RUN(stall_while_waiting);
	RUN(stall_before);
	RUN(grant_taken_back);
	return check_end();
}
