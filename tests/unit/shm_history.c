/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/history: every point against a naive model that keeps all notes. */
#include "tests/unit/shm_fixture.h"

#include "shm/history.h"

#define STEP_NS 10000000ull

static struct ht_history *history(struct fixture *f)
{
	return &f->s.header->history;
}

static void note(struct fixture *f, uint64_t at_ns, uint64_t live)
{
	history_note(&f->s, 1, FIXTURE_CREATED_NS + at_ns, live);
}

/* Compares all points with `want`. */
static void check_points(struct fixture *f, const uint64_t *want, uint32_t count)
{
	CHECK_INT(history(f)->points, count);
	for (uint32_t i = 0; i < count && i < history(f)->points; i++)
		CHECK_INT(history(f)->point[i], want[i]);
	CHECK_INT(history(f)->writer, 0);
	CHECK_INT(history(f)->sequence % 2, 0);
}

TEST(largest_of_each_step)
{
	static const uint64_t want[] = { 7, 3, 9 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	CHECK_INT(history(&f)->step_ns, STEP_NS);
	note(&f, 0, 5);
	note(&f, 1, 7);
	note(&f, STEP_NS - 1, 6);
	note(&f, STEP_NS, 1);
	note(&f, 2 * STEP_NS - 1, 3);
	note(&f, 2 * STEP_NS, 9);
	note(&f, 2 * STEP_NS + 5, 2);
	check_points(&f, want, 3);
	fixture_close(&f);
}

TEST(what_is_not_noted)
{
	static const uint64_t want[] = { 5 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	note(&f, 0, 5);
	history_note(&f.s, 1, FIXTURE_CREATED_NS - 1, 100); /* before the start */
	note(&f, 10, (uint64_t)-8); /* a free was counted before its allocation */
	check_points(&f, want, 1);
	history(&f)->writer = 3ull << 48 | FIXTURE_CREATED_NS >> 16; /* slot 2 is at it */
	note(&f, 20, 100);
	history(&f)->writer = 0;
	check_points(&f, want, 1);
	note(&f, 20, 6);
	CHECK_INT(history(&f)->point[0], 6);
	fixture_close(&f);
}

#define SECOND_NS 1000000000ull

/* Notes as `slot`, and whether that was admitted. */
static bool is_admitted(struct fixture *f, uint32_t slot, uint64_t at_ns)
{
	uint64_t before = history(f)->points;

	history_note(&f->s, slot, FIXTURE_CREATED_NS + at_ns, 100);
	return history(f)->points > before;
}

/* A signal handler left a writer. Its slot's owner takes over at once, but for slot 0, which has
 * many; others after a second. */
TEST(a_writer_was_left)
{
	struct fixture f;

	for (uint32_t slot = 0; slot < 3; slot++) {
		fixture_open(&f, SEGMENT_SMALL);
		history(&f)->writer = (slot + 1ull) << 48 | FIXTURE_CREATED_NS >> 16;
		CHECK(!is_admitted(&f, 5, STEP_NS));
		CHECK(!is_admitted(&f, 0, SECOND_NS - STEP_NS));
		CHECK(is_admitted(&f, slot, SECOND_NS - STEP_NS) == (slot != 0));
		CHECK(is_admitted(&f, 5, 2 * SECOND_NS));
		CHECK_INT(history(&f)->writer, 0);
		CHECK(is_admitted(&f, 6, 2 * SECOND_NS + 9 * STEP_NS));
		fixture_close(&f);
	}
}

/* All of a merge was done up to the one store, and to the one after it. */
static void merge_left(uint32_t points, uint32_t merged, bool stored)
{
	struct fixture f, whole;

	fixture_open(&f, SEGMENT_SMALL);
	fixture_open(&whole, SEGMENT_SMALL);
	for (uint64_t i = 0; i < points; i++) {
		note(&f, i * STEP_NS, i * 37 % 101);
		note(&whole, i * STEP_NS, i * 37 % 101);
	}
	history(&f)->writer = 2ull << 48;
	history(&f)->sequence++;
	history(&f)->merging = points;
	history(&f)->merged = merged;
	history(&f)->merged_step_ns = 2 * STEP_NS;
	for (uint32_t i = 0; i < merged + stored && 2 * i < points; i++)
		history(&f)->point[i] =
			history(&whole)
				->point[2 * i + 1 < points && history(&whole)->point[2 * i + 1] >
								      history(&whole)->point[2 * i]
						? 2 * i + 1
						: 2 * i];
	note(&f, HT_HISTORY_POINTS * STEP_NS, 7);
	note(&whole, HT_HISTORY_POINTS * STEP_NS, 7);
	CHECK_INT(history(&f)->step_ns, history(&whole)->step_ns);
	check_points(&f, history(&whole)->point, history(&whole)->points);
	fixture_close(&f);
	fixture_close(&whole);
}

TEST(a_merge_was_left)
{
	for (uint32_t points = 1; points <= HT_HISTORY_POINTS; points += 51)
		for (uint32_t merged = 0; merged <= (points + 1) / 2; merged++) {
			merge_left(points, merged, false);
			merge_left(points, merged, true);
		}
}

TEST(starts_late)
{
	static const uint64_t want[] = { 0, 0, 0, 4 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	note(&f, 3 * STEP_NS, 4);
	check_points(&f, want, 4);
	fixture_close(&f);
}

/* No note means no event, so nothing changed meanwhile: a short peak must not be drawn over the
 * quiet time after it, nor a rise that came with the first event after it. */
TEST(quiet_time)
{
	static const uint64_t want[] = { 1000, 5, 5, 5, 5, 5, 800 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	note(&f, 0, 10);
	note(&f, 100, 1000);
	note(&f, 200, 5);
	note(&f, 3 * STEP_NS, 5);
	note(&f, 6 * STEP_NS, 800);
	check_points(&f, want, 7);
	fixture_close(&f);
}

TEST(merge)
{
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint64_t i = 0; i < HT_HISTORY_POINTS; i++)
		note(&f, i * STEP_NS, i + 1);
	CHECK_INT(history(&f)->points, HT_HISTORY_POINTS);
	CHECK_INT(history(&f)->step_ns, STEP_NS);
	note(&f, HT_HISTORY_POINTS * STEP_NS, 1000);
	CHECK_INT(history(&f)->points, HT_HISTORY_POINTS / 2 + 1);
	CHECK_INT(history(&f)->step_ns, 2 * STEP_NS);
	CHECK_INT(history(&f)->sequence, 2);
	for (uint64_t i = 0; i < HT_HISTORY_POINTS / 2; i++)
		CHECK_INT(history(&f)->point[i], 2 * i + 2);
	CHECK_INT(history(&f)->point[HT_HISTORY_POINTS / 2], 1000);
	fixture_close(&f);
}

TEST(merge_of_an_odd_number)
{
	static const uint64_t want[] = { 2, 3 };
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	for (uint64_t i = 0; i < 3; i++)
		note(&f, i * STEP_NS, i + 1);
	note(&f, HT_HISTORY_POINTS * STEP_NS, 1);
	CHECK_INT(history(&f)->step_ns, 2 * STEP_NS);
	CHECK_INT(history(&f)->points, HT_HISTORY_POINTS / 2 + 1);
	CHECK_INT(history(&f)->point[0], want[0]);
	CHECK_INT(history(&f)->point[1], want[1]);
	fixture_close(&f);
}

TEST(after_a_year)
{
	struct fixture f;
	uint64_t year = 365ull * 86400 * 1000000000;

	fixture_open(&f, SEGMENT_SMALL);
	note(&f, 0, 77);
	note(&f, year, 3);
	CHECK(history(&f)->points <= HT_HISTORY_POINTS);
	CHECK_INT(history(&f)->point[0], 77);
	CHECK_INT(history(&f)->point[history(&f)->points - 1], 3);
	CHECK(year / history(&f)->step_ns == history(&f)->points - 1);
	/* The largest clock there is. */
	note(&f, UINT64_MAX - FIXTURE_CREATED_NS, 4);
	CHECK(history(&f)->points <= HT_HISTORY_POINTS);
	CHECK_INT(history(&f)->point[0], 77);
	fixture_close(&f);
}

#define NOTES 20000u

/*
 * Random notes with a few quiet times. In an interval that has notes the point is the largest of
 * them; what is carried into the rest of it, and over intervals without, is the smaller of the
 * notes around the quiet time, so never larger than any note's neighbour.
 */
static void naive(uint64_t seed, uint64_t mean_gap_ns)
{
	static uint64_t at[NOTES], live[NOTES];
	uint64_t random = seed, now = 0, step, bad = 0;
	struct fixture f;

	fixture_open(&f, SEGMENT_SMALL);
	for (unsigned i = 0; i < NOTES; i++) {
		uint64_t gap = fixture_random(&random) % (2 * mean_gap_ns);

		if (fixture_random(&random) % 500 == 0)
			gap *= 300;
		at[i] = now += gap;
		live[i] = fixture_random(&random) % 1000000;
		note(&f, at[i], live[i]);
	}
	step = history(&f)->step_ns;
	CHECK_INT(history(&f)->points, now / step + 1);
	for (uint32_t p = 0, i = 0; p < history(&f)->points; p++) {
		uint64_t largest = 0, got = history(&f)->point[p];
		bool any = false;

		for (; i < NOTES && at[i] / step == p; i++, any = true)
			largest = live[i] > largest ? live[i] : largest;
		/* Carried in from the quiet time before: at most the next note. */
		if (any)
			bad += got != largest;
		else if (p > 0)
			bad += got > (i < NOTES ? live[i] : 0);
	}
	CHECK_INT(bad, 0);
	fixture_close(&f);
}

TEST(naive_model)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		naive(seed, 1000);
		naive(seed, 1000000);
		naive(seed, 50000000);
		naive(seed, 3600ull * 1000000000);
	}
}

int main(void)
{
	RUN(largest_of_each_step);
	RUN(what_is_not_noted);
	RUN(a_writer_was_left);
	RUN(a_merge_was_left);
	RUN(starts_late);
	RUN(quiet_time);
	RUN(merge);
	RUN(merge_of_an_odd_number);
	RUN(after_a_year);
	RUN(naive_model);
	return check_end();
}
