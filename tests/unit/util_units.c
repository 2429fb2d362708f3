/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people read them: the spellings, their widths at every magnitude, and durations read.
 */
#include <errno.h>
#include <math.h>
#include "src/util/units.h"
#include "tests/check.h"

TEST(bytes)
{
	char b[UNITS_MAX];

	CHECK_STR(units_bytes(b, 0), "0");
	CHECK_STR(units_bytes(b, 998), "998");
	CHECK_STR(units_bytes(b, 1023), "1023");
	CHECK_STR(units_bytes(b, 1024), "1.0k");
	CHECK_STR(units_bytes(b, 4096), "4.0k");
	CHECK_STR(units_bytes(b, 4147), "4.0k");
	CHECK_STR(units_bytes(b, 4148), "4.1k");
	CHECK_STR(units_bytes(b, 1023948), "999.9k");
	CHECK_STR(units_bytes(b, 1023949), "1.0M"); /* 999.95k: a seventh cell otherwise */
	CHECK_STR(units_bytes(b, 131ull << 20), "131.0M");
	CHECK_STR(units_bytes(b, 1288490189), "1.2G");
	CHECK_STR(units_bytes(b, 1ull << 60), "1.0E");
	CHECK_STR(units_bytes(b, UINT64_MAX), "16.0E");
}

TEST(counts)
{
	char b[UNITS_MAX];

	CHECK_STR(units_count(b, 0), "0");
	CHECK_STR(units_count(b, 999), "999");
	CHECK_STR(units_count(b, 1204), "1,204");
	CHECK_STR(units_count(b, 10498), "10,498");
	CHECK_STR(units_count(b, 99999), "99,999");
	CHECK_STR(units_count(b, 100000), "100.0k");
	CHECK_STR(units_count(b, 101233), "101.2k");
	CHECK_STR(units_count(b, 999949), "999.9k");
	CHECK_STR(units_count(b, 999950), "1.00M");
	CHECK_STR(units_count(b, 1240000), "1.24M");
	CHECK_STR(units_count(b, 9995000), "10.0M");
	CHECK_STR(units_count(b, 12400000), "12.4M");
	CHECK_STR(units_count(b, UINT64_MAX), "18.4E");
}

TEST(rates)
{
	char b[UNITS_MAX];

	CHECK_STR(units_rate(b, 0), "0");
	CHECK_STR(units_rate(b, -0.4), "0");
	CHECK_STR(units_rate(b, 512), "+512B/s");
	CHECK_STR(units_rate(b, 1153434), "+1.1M/s");
	CHECK_STR(units_rate(b, -98304), "-96k/s");
	CHECK_STR(units_rate(b, 402 * 1024), "+402k/s");
	CHECK_STR(units_rate(b, 1000), "+1.0k/s");
	CHECK_STR(units_rate(b, 1023 * 1024), "+1.0M/s");
	CHECK_STR(units_rate(b, (double)NAN), "0");
	CHECK_STR(units_rate(b, (double)INFINITY), "+7.8E/s");
	CHECK_STR(units_rate(b, -(double)INFINITY), "-7.8E/s");
}

TEST(frequencies)
{
	char b[UNITS_MAX];

	CHECK_STR(units_freq(b, 0), "0/s");
	CHECK_STR(units_freq(b, 0.04), "0/s");
	CHECK_STR(units_freq(b, 0.3), "0.3/s");
	CHECK_STR(units_freq(b, 0.97), "1/s");
	CHECK_STR(units_freq(b, 41.6), "42/s");
	CHECK_STR(units_freq(b, 1200), "1.2k/s");
	CHECK_STR(units_freq(b, 184321), "184k/s");
	CHECK_STR(units_freq(b, 999999), "1.0M/s");
	CHECK_STR(units_freq(b, -5), "0/s");
	CHECK_STR(units_freq(b, (double)NAN), "0/s");
}

TEST(durations)
{
	char b[UNITS_MAX];
	const uint64_t s = 1000000000u;

	CHECK_STR(units_duration(b, 0), "0s");
	CHECK_STR(units_duration(b, 999), "999ns");
	CHECK_STR(units_duration(b, 65536), "65us");
	CHECK_STR(units_duration(b, 210 * s / 1000), "210ms");
	CHECK_STR(units_duration(b, s - 1), "999ms");
	CHECK_STR(units_duration(b, s), "1.0s");
	CHECK_STR(units_duration(b, 10 * s - 1), "9.9s");
	CHECK_STR(units_duration(b, 41 * s), "41s");
	CHECK_STR(units_duration(b, 60 * s), "1m00s");
	CHECK_STR(units_duration(b, (12 * 60 + 41) * s), "12m41s");
	CHECK_STR(units_duration(b, (3 * 3600 + 5 * 60 + 59) * s), "3h05m");
	CHECK_STR(units_duration(b, (52 * 3600) * s), "2d04h");
	CHECK_STR(units_duration(b, UINT64_MAX), "213503d23h");
}

TEST(percentages)
{
	char b[UNITS_MAX];

	CHECK_STR(units_percent(b, 0, 10), "0");
	CHECK_STR(units_percent(b, 5, 0), "0");
	CHECK_STR(units_percent(b, 234, 1000), "23.4");
	CHECK_STR(units_percent(b, 1, 100000), "0.0");
	CHECK_STR(units_percent(b, 9994, 10000), "99.9");
	CHECK_STR(units_percent(b, 99999, 100000), "100");
	CHECK_STR(units_percent(b, 10, 10), "100");
	CHECK_STR(units_percent(b, 20, 10), "100");
	CHECK_STR(units_percent(b, UINT64_MAX / 2, UINT64_MAX), "50.0");
}

TEST(exact)
{
	char b[UNITS_MAX + 8];

	CHECK_STR(units_exact(b, 0), "0");
	CHECK_STR(units_exact(b, 100), "100");
	CHECK_STR(units_exact(b, 1000), "1,000");
	CHECK_STR(units_exact(b, 1048576), "1,048,576");
	CHECK_STR(units_exact(b, UINT64_MAX), "18,446,744,073,709,551,615");
}

/* The widths that columns are laid out for, around every power of two and of ten. */
static void widths_at(uint64_t value)
{
	char b[UNITS_MAX];

	CHECK(strlen(units_bytes(b, value)) <= 6);
	CHECK(strlen(units_count(b, value)) <= 6);
	CHECK(strlen(units_rate(b, -(double)value)) <= 9);
	CHECK(strlen(units_freq(b, (double)value)) <= 6);
}

TEST(widths)
{
	uint64_t ten = 1;

	for (unsigned i = 0; i < 64; i++) {
		for (int d = -3; d <= 3; d++)
			widths_at((1ull << i) + (uint64_t)d);
	}
	for (unsigned i = 0; i < 20; i++, ten *= 10) {
		for (uint64_t tail = 0; tail <= ten; tail = tail * 10 + 5) {
			widths_at(ten - tail);
			widths_at(ten + tail);
		}
	}
}

TEST(durations_read)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "500ms", 500000000u },
		{ "2", 2000000000u },
		{ "0.5", 500000000u },
		{ "1s", 1000000000u },
		{ "2m", 120000000000u },
		{ ".25s", 250000000u },
		{ "1.", 1000000000u },
		{ "100us", 100000u },
		{ "0.1h", 360000000000u },
		{ "0", 0 },
		{ "1.0000000009", 1000000000u },
	};
	static const char *const bad[] = {
		"",
		".",
		"s",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1e3",
		"1ss",
		"1,5",
		"nan",
		"0x10",
		"1.2.3",
		"99999999999",
		"5124095.6h",
		"1S",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t ns = 7;

		CHECK_INT(units_parse_duration(good[i].text, &ns), 0);
		CHECK_INT(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t ns = 7;

		CHECK_INT(units_parse_duration(bad[i], &ns), -EINVAL);
		CHECK_INT(ns, 7);
	}
}

TEST(bytes_read)
{
	static const char *const bad[] = { "", "k", "1x", "-1", " 1", "1kb", "1.5M",
		"99999999999999999999", "99999999999G" };
	uint64_t bytes = 7;

	CHECK_INT(units_parse_bytes("0", &bytes), 0);
	CHECK(bytes == 0);
	CHECK_INT(units_parse_bytes("512K", &bytes), 0);
	CHECK(bytes == 512u << 10);
	CHECK_INT(units_parse_bytes("64m", &bytes), 0);
	CHECK(bytes == 64u << 20);
	CHECK_INT(units_parse_bytes("2G", &bytes), 0);
	CHECK(bytes == 2ull << 30);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(units_parse_bytes(bad[i], &bytes), -EINVAL);
}

TEST(plural)
{
	CHECK_STR(units_plural(0), "s");
	CHECK_STR(units_plural(1), "");
	CHECK_STR(units_plural(2), "s");
}

int main(void)
{
	RUN(bytes);
	RUN(counts);
	RUN(rates);
	RUN(frequencies);
	RUN(durations);
	RUN(percentages);
	RUN(exact);
	RUN(widths);
	RUN(durations_read);
	RUN(bytes_read);
	RUN(plural);
	return check_end();
}
