/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments as people type them: what is understood, what it names in a past, and what is refused. */
#include <errno.h>
#include "src/run/at_time.h"
#include "tests/check.h"

#define S UINT64_C(1000000000)

static const struct timeline_point points[] = { { .ns = 10 * S, .live_bytes = 100 },
	{ .ns = 15 * S, .live_bytes = 900 }, { .ns = 20 * S, .live_bytes = 300 } };
static const struct timeline kept = { .points = points, .npoints = 3 };
static const struct snap_mark marks[] = { { .number = 1, .name = "warm up", .ns = 12 * S },
	{ .before = &marks[0], .number = 2, .ns = 14 * S },
	{ .before = &marks[1], .number = 3, .name = "2", .ns = 16 * S } };
static const struct snapshot last = { .uptime_ns = 20 * S,
	.totals = { .peak_ns = 13 * S, .has_at_peak = true },
	.moments = &marks[2] };

static struct moment found;
static char message[AT_TIME_MESSAGE_MAX];

static int find(const char *text)
{
	message[0] = '\0';
	return at_time_find(text, &last, &kept, &found, message);
}

/* The time that a single past moment names, in milliseconds; -1: it is refused. */
static long past_ms(const char *text)
{
	return find(text) == 0 && found.kind == SNAP_PAST ? (long)(found.ns / (S / 1000)) : -1;
}

TEST(times)
{
	CHECK_INT(past_ms("12.5s"), 12500);
	CHECK_INT(past_ms("12"), 12000);
	CHECK_INT(past_ms("11500ms"), 11500);
	CHECK_INT(past_ms("0m12s"), 12000);
	CHECK_INT(past_ms("0:11"), 11000);
	CHECK_INT(past_ms("0:00:11.5"), 11500);
	CHECK_INT(past_ms("10s"), 10000);
	CHECK_INT(past_ms("20s"), 20000);
}

TEST(long_times)
{
	static const struct timeline_point hour[] = { { .ns = S }, { .ns = 7200 * S } };
	static const struct timeline t = { .points = hour, .npoints = 2 };

	CHECK_INT(at_time_find("1h30m", &last, &t, &found, message), 0);
	CHECK(found.ns == 5400 * S);
	CHECK_INT(at_time_find("1:05:07", &last, &t, &found, message), 0);
	CHECK(found.ns == 3907 * S);
	CHECK_INT(at_time_find("65:07", &last, &t, &found, message), 0);
	CHECK(found.ns == 3907 * S);
	/* What is asked of the moment before a launched program's first tick is that tick. */
	CHECK_INT(at_time_find("0s", &last, &t, &found, message), 0);
}

TEST(places)
{
	CHECK_INT(past_ms("50%"), 15000);
	CHECK_INT(past_ms("0%"), 10000);
	CHECK_INT(past_ms("100%"), 20000);
	CHECK_INT(past_ms("mark:warm up"), 12000);
	CHECK_INT(found.mark, 1);
	CHECK_INT(past_ms("mark:1"), 12000);
	CHECK_INT(past_ms("mark:2"), 16000); /* a name comes before a number */
	CHECK_INT(found.mark, 3);
	CHECK_INT(past_ms("mark:3"), 16000);
	CHECK_INT(past_ms("16s"), 16000);
	CHECK_INT(found.mark, 0);
	CHECK_INT(find("end"), 0);
	CHECK(found.kind == SNAP_NOW);
	CHECK_INT(find("peak"), 0);
	CHECK(found.kind == SNAP_PEAK);
}

/* Without the peak's composition, its moment is the highest tick. */
TEST(peak_of_ticks)
{
	struct snapshot plain = last;

	plain.totals.has_at_peak = false;
	CHECK_INT(at_time_find("peak", &plain, &kept, &found, message), 0);
	CHECK(found.kind == SNAP_PAST && found.ns == 15 * S);
}

TEST(ranges)
{
	CHECK_INT(find("11s..mark:3"), 0);
	CHECK(found.kind == SNAP_RANGE && found.from_ns == 11 * S && found.ns == 16 * S);
	CHECK_INT(find("mark:warm up..end"), 0);
	CHECK(found.from_ns == 12 * S && found.ns == 20 * S);
	CHECK_INT(find("peak..100%"), 0);
	CHECK(found.from_ns == 13 * S);
	CHECK_INT(find("16s..11s"), -EINVAL);
	CHECK_STR(message, "the range ends before it begins");
}

TEST(not_kept)
{
	CHECK_INT(find("9s"), -ENODATA);
	CHECK_STR(message, "9.0s is too early: only 10s to 20s is kept");
	CHECK_INT(find("21s"), -ENODATA);
	CHECK_INT(find("mark:4"), -ENODATA);
	CHECK_STR(message, "no mark has the name or number 4");
	CHECK_INT(at_time_find("12s", &last, NULL, &found, message), -ENODATA);
	CHECK_INT(at_time_find("end", &last, NULL, &found, message), 0);
	CHECK_INT(at_time_find("peak", &last, NULL, &found, message), 0);
}

TEST(refused)
{
	static const char *const bad[] = { "", "x", "12x", "s", "1:2:3:4", "1:75", "0:1s", "101%",
		"%", "mark:", "..", "1s..", "..1s", "1s..x", "-1s", "1 s", "0:", ":1", "1e9",
		"99999999999h", "1..2..3" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (at_time_check(bad[i]) != -EINVAL)
			CHECK_STR(bad[i], "refused");
	CHECK_INT(at_time_check("1s..2s"), 0);
	CHECK_INT(at_time_check("mark:a.b"), 0);
}

int main(void)
{
	RUN(times);
	RUN(long_times);
	RUN(places);
	RUN(peak_of_ticks);
	RUN(ranges);
	RUN(not_kept);
	RUN(refused);
	return check_end();
}
