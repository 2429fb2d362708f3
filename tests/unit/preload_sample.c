/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling in the program: what passes and what is taken, what a switch does to the thread that
 * sees it, the pages that hold recorded blocks, and the measuring. The file itself is compiled in,
 * with stand-ins for the rest of the room.
 */
#include "preload/sample.c"

#include "tests/unit/shm_fixture.h"

struct segment state_segment;
__thread struct state_thread state_thread;
struct next next;
uint8_t next_mode;
char next_arena[NEXT_ARENA_BYTES];
bool unwind_check;

static struct fixture fixture;
static enum own_mode way;
static uint64_t time_ns, tick_ns;
static unsigned doubts, helped, served;
static const char *seed_text;

void state_set_mode(enum own_mode wanted)
{
	way = wanted;
}

void modules_invalidate(void)
{
	doubts++;
}

void coop_serve(void)
{
	helped++;
}

void ignored_serve(struct recorder *r)
{
	r->ignore_round = state_segment.header->ignore_round;
	served++;
}

uint64_t clock_monotonic(void)
{
	return time_ns += tick_ns;
}

const char *environment_variable(const char *name)
{
	return strcmp(name, "HEAPTOP_SEED") == 0 ? seed_text : NULL;
}

/* A program that begins with this word in its header. */
/* An address in a page that shares its count with no page of the arena, which the loader places
 * anywhere; nor does the page after it. */
static char *page_apart(void)
{
	char *p = (char *)0x7f1234567000;

	while (*sample_page(p) != 0 || *sample_page(p + 4096) != 0)
		p += 4096;
	return p;
}

static void begin(uint64_t bytes)
{
	fixture_open(&fixture, SEGMENT_FULL);
	state_segment = fixture.s;
	state_thread = (struct state_thread){ 0 };
	memset(sample_held, 0, sizeof(sample_held));
	applied = 0;
	next_mode = NEXT_EXACT;
	way = OWN_FAST;
	time_ns = FIXTURE_CREATED_NS;
	tick_ns = 1;
	seed_text = "42";
	fixture.s.header->sample_bytes = bytes;
	if (sample_start())
		apply_switch();
}

static void end(void)
{
	fixture_close(&fixture);
}

static void switch_to(uint64_t bytes)
{
	fixture.s.header->sample_bytes = bytes;
}

/* As a hook does it. */
static bool recorded(uint64_t size, uint32_t *log2)
{
	return !sample_passes(size) && sample_takes(size, log2);
}

TEST(exact_programs_stay_exact)
{
	uint32_t log2 = 99;

	begin(0);
	CHECK_INT(next_mode, NEXT_EXACT);
	CHECK_INT(way, OWN_FAST);
	CHECK_INT(fixture.s.header->rate_changes, 0);
	CHECK(!sample_was_on());
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(recorded(i, &log2));
		CHECK_INT(log2, 0);
	}
	end();
}

TEST(blocks_pass_until_the_gap_is_used_up)
{
	uint32_t log2 = 0;
	uint64_t left;

	begin(1 << 16);
	CHECK_INT(next_mode, NEXT_SAMPLED);
	CHECK_INT(way, OWN_SLOW);
	state_thread.gap_left = 300;
	CHECK(sample_passes(100));
	CHECK_INT(state_thread.gap_left, 199);
	CHECK(sample_passes(0)); /* one byte */
	CHECK_INT(state_thread.gap_left, 198);
	CHECK(!sample_passes(198));
	CHECK(!sample_passes(UINT64_MAX));
	CHECK(!sample_passes(1ull << 63));
	CHECK_INT(state_thread.gap_left, 198);
	CHECK(sample_passes(197));
	CHECK_INT(state_thread.gap_left, 0);
	CHECK(!sample_passes(0));
	CHECK(sample_takes(0, &log2));
	CHECK_INT(log2, 16);
	/* The long way counts down as well. */
	state_thread.gap_left = left = 1000;
	CHECK(!sample_takes(10, &log2));
	CHECK_INT(state_thread.gap_left, left - 11);
	end();
}

/* Frees that pass may be the loader's: no stack is taken without the loader being asked. */
TEST(nothing_is_proved_while_frees_pass)
{
	uint32_t log2;

	begin(1 << 16);
	doubts = 0;
	state_thread.gap_left = 10;
	CHECK(recorded(100, &log2));
	CHECK_INT(doubts, 1);
	switch_to(0);
	doubts = 0;
	CHECK(recorded(100, &log2));
	CHECK_INT(doubts, 1);
	end();
}

/* All that a program allocates, by the weights of what was recorded. */
TEST(weights_add_up)
{
	double truth = 0, estimate = 0, variance = 0;
	uint64_t random = 1;
	uint32_t log2;

	begin(1 << 14);
	for (unsigned i = 0; i < 2000000; i++) {
		uint64_t size = fixture_random(&random) % (i % 50 ? 200 : 20000);
		struct poisson_weight w;

		truth += (double)size;
		if (!recorded(size, &log2))
			continue;
		w = poisson_weight(i * 16, size, log2);
		estimate += (double)w.bytes;
		variance += (double)w.bytes_variance * (1 << POISSON_BYTES_LOG2);
	}
	CHECK((estimate - truth) * (estimate - truth) < 16 * variance);
	CHECK(variance > 0);
	end();
}

TEST(a_seed_repeats_a_run)
{
	uint64_t first, second;

	begin(1 << 16);
	first = state_thread.gap_left;
	end();
	begin(1 << 16);
	second = state_thread.gap_left;
	end();
	CHECK_INT(first, second);
	seed_text = "43";
	begin(1 << 16);
	seed_text = NULL;
	sample_start();
	sample_redraw();
	CHECK(state_thread.gap_left != first);
	end();
}

TEST(exact_is_at_once)
{
	uint32_t log2 = 99;

	begin(1 << 16);
	state_thread.gap_left = 1 << 20;
	CHECK(sample_passes(1));
	switch_to(0);
	CHECK(!sample_passes(1));
	CHECK(sample_takes(1, &log2));
	CHECK_INT(log2, 0);
	CHECK_INT(next_mode, NEXT_EXACT);
	CHECK_INT(way, OWN_FAST);
	/* A hook that was interrupted by all this puts back what it had: it does not pass for it.
	 */
	state_thread.gap_left = 1 << 20;
	CHECK(!sample_passes(1));
	CHECK(sample_takes(1, &log2));
	CHECK_INT(log2, 0);
	end();
}

/* A thread that has seen nothing yet does not pass either, whatever mode its process is in. */
TEST(fresh_threads_ask)
{
	uint32_t log2 = 99;

	begin(1 << 16);
	state_thread = (struct state_thread){ 0 };
	CHECK(!sample_passes(1));
	sample_takes(1, &log2);
	CHECK_INT(state_thread.rate_seen, 1 << 16);
	CHECK(state_thread.gap_left > 0);
	end();
}

TEST(switches_leave_marks)
{
	struct ht_header *h;
	uint32_t log2;

	begin(0);
	h = fixture.s.header;
	switch_to(1 << 19);
	apply_switch();
	apply_switch();
	CHECK_INT(h->rate_changes, 1);
	CHECK_INT(h->rate_change[0].sample_bytes, 1 << 19);
	CHECK_INT(h->rate_change[0].ns, time_ns);
	CHECK_INT(h->sample_most, 1 << 19);
	switch_to(1 << 12);
	recorded(1, &log2);
	CHECK_INT(h->rate_changes, 2);
	CHECK_INT(h->rate_change[1].sample_bytes, 1 << 12);
	CHECK_INT(h->sample_most, 1 << 19);
	switch_to(0);
	recorded(1, &log2);
	CHECK_INT(h->rate_changes, 3);
	CHECK_INT(h->rate_change[2].sample_bytes, 0);
	/* Nonsense is exact, and nothing to act on. */
	switch_to(12345);
	recorded(1, &log2);
	CHECK_INT(log2, 0);
	CHECK_INT(h->rate_changes, 3);
	CHECK(sample_was_on());
	/* One that is sampled from its start says so. */
	end();
	begin(1 << 20);
	CHECK_INT(fixture.s.header->rate_changes, 1);
	CHECK_INT(fixture.s.header->sample_most, 1 << 20);
	end();
}

TEST(pages_hold_what_is_sampled)
{
	char *p, *other;

	begin(1 << 16);
	p = page_apart();
	other = p + 4096;
	CHECK(sample_is_unrecorded(p));
	sample_hold((uint64_t)p + 16);
	sample_hold((uint64_t)p + 4000);
	CHECK(!sample_is_unrecorded(p + 64) && sample_is_unrecorded(other));
	sample_release((uint64_t)p + 16);
	CHECK(!sample_is_unrecorded(p));
	sample_release((uint64_t)p + 4000);
	CHECK(sample_is_unrecorded(p));
	/* More than can be counted are held for good. */
	for (unsigned i = 0; i < 300; i++)
		sample_hold((uint64_t)p);
	for (unsigned i = 0; i < 300; i++)
		sample_release((uint64_t)p);
	CHECK(!sample_is_unrecorded(p));
	/* The bootstrap arena's blocks must not go to the next allocator. */
	CHECK(!sample_is_unrecorded(next_arena));
	CHECK(!sample_is_unrecorded(next_arena + NEXT_ARENA_BYTES - 1));
	end();
}

/* Once anything was recorded exactly, no free may pass by the pages alone, ever again. */
TEST(what_was_exact_is_looked_for)
{
	struct live_block old[LIVE_MISSED_MAX], b = { .size = 100, .counter = 5 };
	char *p;

	begin(1 << 16);
	p = page_apart() + 16;
	switch_to(0);
	apply_switch();
	CHECK(!sample_is_unrecorded(p)); /* nothing passes in exact mode */
	CHECK_INT(live_insert(&fixture.s, (uint64_t)p, &b, old), 0);
	switch_to(1 << 16);
	apply_switch();
	CHECK_INT(next_mode, NEXT_MIXED);
	CHECK(!sample_is_unrecorded(p));
	CHECK(sample_is_unrecorded(p + 112));
	CHECK(!sample_is_unrecorded(next_arena));
	end();
	begin(0);
	switch_to(1 << 16);
	apply_switch();
	CHECK_INT(next_mode, NEXT_MIXED);
	/* Switched by the word alone, with nobody having applied on it: a thread that has seen
	 * nothing yet makes it so before it records exactly. */
	end();
	begin(1 << 16);
	state_thread = (struct state_thread){ 0 };
	switch_to(0);
	{
		uint32_t log2 = 99;

		CHECK(recorded(1, &log2));
		CHECK_INT(log2, 0);
	}
	CHECK_INT(next_mode, NEXT_EXACT);
	end();
}

/* Times an event of 200 ns, if it is to be timed. */
static bool timed(bool is_recorded)
{
	uint64_t from = sample_time_begin();

	time_ns += 200;
	sample_time_end(from, is_recorded);
	return from != 0;
}

TEST(one_event_in_64_is_timed)
{
	struct ht_header *h;
	unsigned count = 0;

	begin(1 << 16);
	h = fixture.s.header;
	for (unsigned i = 0; i < 1000; i++)
		count += timed(true);
	CHECK_INT(count, 0);
	h->measure = 1;
	tick_ns = 30; /* what a look at the clock takes */
	for (unsigned i = 0; i < 640; i++)
		count += timed(i % 128 >= 64);
	CHECK_INT(count, 10);
	CHECK_INT(h->timed_events, 5);
	CHECK_INT(h->timed_ns, 10 * 200);
	/* A preemption is not recording. */
	for (unsigned i = 0; i < 64; i++) {
		uint64_t from = sample_time_begin();

		time_ns += 1000000000;
		sample_time_end(from, true);
	}
	CHECK_INT(h->timed_ns, 10 * 200 + TIMED_MOST_NS);
	end();
}

/* In exact mode events take the short way, but for one in 64, for which the recorder is away. */
TEST(exact_events_are_timed_now_and_then)
{
	struct recorder r = { .clock_interval = 32 };

	begin(0);
	fixture.s.header->measure = 1;
	CHECK(sample_is_requested());
	state_thread.recorder = &r;
	sample_serve(&r);
	CHECK(state_thread.recorder == &r);
	CHECK(!timed(true));
	sample_serve(&r);
	CHECK(state_thread.recorder == NULL);
	CHECK(timed(true));
	CHECK(state_thread.recorder == &r);
	CHECK(!timed(true));
	CHECK_INT(way, OWN_FAST);
	CHECK_INT(next_mode, NEXT_EXACT);
	CHECK_INT(fixture.s.header->rate_changes, 0);
	/* Whoever needs it has it back, and then nothing is timed. */
	sample_serve(&r);
	sample_serve(&r);
	CHECK(state_thread.recorder == NULL);
	recorder_take_back();
	CHECK(state_thread.recorder == &r);
	CHECK(!timed(true));
	/* A switch comes first. */
	switch_to(1 << 16);
	sample_serve(&r);
	sample_serve(&r);
	CHECK(state_thread.recorder == &r);
	CHECK_INT(next_mode, NEXT_MIXED);
	end();
}

/* A viewer that wants help with a scan is heard, and nothing else comes of it. */
TEST(help_is_given_when_asked_for)
{
	struct recorder r = { .clock_interval = 64 };

	begin(0);
	helped = 0;
	CHECK(!sample_is_requested());
	fixture.s.header->coop_ask = HT_COOP_COPY;
	CHECK(sample_is_requested());
	state_thread.recorder = &r;
	sample_serve(&r);
	sample_serve(&r);
	CHECK_INT(helped, 2);
	CHECK(state_thread.recorder == &r);
	fixture.s.header->coop_ask = HT_COOP_NOTHING;
	CHECK(!sample_is_requested());
	/* Also while there is something else to do. */
	fixture.s.header->coop_ask = HT_COOP_COPY;
	fixture.s.header->measure = 1;
	sample_serve(&r);
	CHECK_INT(helped, 3);
	CHECK(state_thread.recorder == NULL);
	end();
}

/* Each thread applies each change of what a viewer ignores once. */
TEST(what_is_ignored_is_applied_once)
{
	struct recorder r = { .clock_interval = 64 };

	begin(0);
	served = 0;
	fixture.s.header->ignore_round = 2;
	CHECK(sample_is_requested());
	sample_serve(&r);
	sample_serve(&r);
	CHECK_INT(served, 1);
	fixture.s.header->ignore_round = HT_IGNORE_NOTHING;
	CHECK(sample_is_requested());
	sample_serve(&r);
	CHECK_INT(served, 2);
	fixture.s.header->ignore_round = 0;
	end();
}

int main(void)
{
	RUN(what_is_ignored_is_applied_once);
	RUN(help_is_given_when_asked_for);
	RUN(exact_programs_stay_exact);
	RUN(blocks_pass_until_the_gap_is_used_up);
	RUN(nothing_is_proved_while_frees_pass);
	RUN(weights_add_up);
	RUN(a_seed_repeats_a_run);
	RUN(exact_is_at_once);
	RUN(fresh_threads_ask);
	RUN(switches_leave_marks);
	RUN(pages_hold_what_is_sampled);
	RUN(what_was_exact_is_looked_for);
	RUN(one_event_in_64_is_timed);
	RUN(exact_events_are_timed_now_and_then);
	return check_end();
}
