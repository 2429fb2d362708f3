/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formats numbers for people. Screen, batch mode and report call this, on any thread. The
 * arithmetic uses integers and no printf conversion here depends on the locale, so points and
 * commas are the same for every user.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/units.h"

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

#define COUNT_EXACT_BELOW 100000u /* six cells with its separator: "99,999" */

static const char units_prefix[] = "kMGTPE";

/* `value` in `parts`ths of a unit, rounded. Wide arithmetic, because 10^18 times 100 overflows 64
 * bits. */
static uint64_t units_scaled(uint64_t value, uint64_t unit, unsigned parts)
{
	return (uint64_t)(((unsigned __int128)value * parts + unit / 2) / unit);
}

/* "1.1", "412": at most three digits before the point, `decimals` (0-2) after. */
static int units_fixed(char *buf, size_t cap, uint64_t scaled, unsigned decimals)
{
	static const unsigned power[] = { 1, 10, 100 };
	unsigned parts = power[decimals];

	if (decimals == 0)
		return snprintf(buf, cap, "%" PRIu64, scaled);
	return snprintf(buf, cap, "%" PRIu64 ".%0*u", scaled / parts, (int)decimals,
		(unsigned)(scaled % parts));
}

/* The prefix that leaves `value` below 1000 after rounding to a tenth; *unit gets its size. */
static char units_pick(uint64_t value, unsigned base, uint64_t *unit)
{
	unsigned i;

	*unit = base;
	for (i = 0; units_prefix[i + 1]; i++) {
		if (units_scaled(value, *unit, 10) < 10000)
			break;
		*unit *= base;
	}
	return units_prefix[i];
}

char *units_bytes(char buf[UNITS_MAX], uint64_t bytes)
{
	uint64_t unit;
	char prefix;
	int n;

	if (bytes < 1024) {
		snprintf(buf, UNITS_MAX, "%u", (unsigned)bytes);
		return buf;
	}
	prefix = units_pick(bytes, 1024, &unit);
	n = units_fixed(buf, UNITS_MAX, units_scaled(bytes, unit, 10), 1);
	snprintf(buf + n, (size_t)(UNITS_MAX - n), "%c", prefix);
	return buf;
}

char *units_count(char buf[UNITS_MAX], uint64_t count)
{
	uint64_t unit, scaled;
	char prefix;
	bool fine;
	int n;

	if (count < COUNT_EXACT_BELOW) {
		char exact[UNITS_MAX + 8];

		snprintf(buf, UNITS_MAX, "%.*s", UNITS_MAX - 1, units_exact(exact, count));
		return buf;
	}
	prefix = units_pick(count, 1000, &unit);
	scaled = units_scaled(count, unit, 100);
	fine = scaled < 1000;
	n = units_fixed(
		buf, UNITS_MAX, fine ? scaled : units_scaled(count, unit, 10), fine ? 2 : 1);
	snprintf(buf + n, (size_t)(UNITS_MAX - n), "%c", prefix);
	return buf;
}

/* A finite, non-negative magnitude, clamped so that no cast is undefined. */
static uint64_t units_magnitude(double value)
{
	double size = fabs(value);

	if (!(size < 9e18))
		return isnan(value) ? 0 : (uint64_t)9e18;
	return (uint64_t)(size + 0.5);
}

/* "1.1M", "402k", "96": one decimal below ten units, none above. `plain` follows a number without
 * prefix. */
static int units_short(char *buf, size_t cap, uint64_t value, unsigned base, const char *plain)
{
	uint64_t unit = 1, tenths;
	unsigned i = 0;

	if (value < 1000)
		return snprintf(buf, cap, "%u%s", (unsigned)value, plain);
	for (unit = base; units_prefix[i + 1] && units_scaled(value, unit, 1) >= 1000; i++)
		unit *= base;
	tenths = units_scaled(value, unit, 10);
	if (tenths < 100)
		return snprintf(buf, cap, "%u.%u%c", (unsigned)(tenths / 10),
			(unsigned)(tenths % 10), units_prefix[i]);
	return snprintf(
		buf, cap, "%u%c", (unsigned)(units_scaled(value, unit, 1) % 1000), units_prefix[i]);
}

char *units_rate(char buf[UNITS_MAX], double bytes_per_s)
{
	uint64_t value = units_magnitude(bytes_per_s);
	char number[UNITS_MAX - 4];

	if (value == 0) {
		strcpy(buf, "0");
		return buf;
	}
	units_short(number, sizeof(number), value, 1024, "B");
	snprintf(buf, UNITS_MAX, "%c%s/s", bytes_per_s < 0 ? '-' : '+', number);
	return buf;
}

char *units_freq(char buf[UNITS_MAX], double per_s)
{
	char number[UNITS_MAX - 4];
	unsigned tenths;

	if (!(per_s > 0))
		per_s = 0;
	tenths = per_s < 1 ? (unsigned)(per_s * 10 + 0.5) : 10;
	if (tenths > 0 && tenths < 10)
		snprintf(number, sizeof(number), "0.%u", tenths);
	else
		units_short(number, sizeof(number), units_magnitude(per_s), 1000, "");
	snprintf(buf, UNITS_MAX, "%s/s", number);
	return buf;
}

/* "41s"; from a minute on the two largest units, the smaller one with two digits. */
static void units_clock(char buf[UNITS_MAX], uint64_t s)
{
	static const struct {
		unsigned major, minor;
		char major_name, minor_name;
	} scale[] = {
		{ 86400, 3600, 'd', 'h' },
		{ 3600, 60, 'h', 'm' },
		{ 60, 1, 'm', 's' },
	};

	for (size_t i = 0; i < sizeof(scale) / sizeof(scale[0]); i++) {
		if (s < scale[i].major)
			continue;
		snprintf(buf, UNITS_MAX, "%" PRIu64 "%c%02u%c", s / scale[i].major,
			scale[i].major_name, (unsigned)(s % scale[i].major / scale[i].minor),
			scale[i].minor_name);
		return;
	}
	snprintf(buf, UNITS_MAX, "%us", (unsigned)s);
}

char *units_duration(char buf[UNITS_MAX], uint64_t ns)
{
	if (ns == 0)
		strcpy(buf, "0s");
	else if (ns < NS_PER_US)
		snprintf(buf, UNITS_MAX, "%uns", (unsigned)ns);
	else if (ns < NS_PER_MS)
		snprintf(buf, UNITS_MAX, "%uus", (unsigned)(ns / NS_PER_US));
	else if (ns < NS_PER_S)
		snprintf(buf, UNITS_MAX, "%ums", (unsigned)(ns / NS_PER_MS));
	else if (ns < 10 * NS_PER_S)
		snprintf(buf, UNITS_MAX, "%u.%us", (unsigned)(ns / NS_PER_S),
			(unsigned)(ns % NS_PER_S / (100 * NS_PER_MS)));
	else
		units_clock(buf, ns / NS_PER_S);
	return buf;
}

char *units_percent(char buf[UNITS_MAX], uint64_t part, uint64_t whole)
{
	unsigned tenths = 0;

	if (whole)
		tenths = part >= whole ? 1000
				       : (unsigned)((double)part * 1000 / (double)whole + 0.5);
	if (part == 0 || whole == 0)
		strcpy(buf, "0");
	else if (tenths >= 1000)
		strcpy(buf, "100");
	else
		snprintf(buf, UNITS_MAX, "%u.%u", tenths / 10, tenths % 10);
	return buf;
}

char *units_signed(char *buf, int64_t value, char *(*units)(char buf[UNITS_MAX], uint64_t value))
{
	char text[UNITS_MAX];
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

	sprintf(buf, "%s%s", value < 0 ? "-" : value > 0 ? "+" : "", units(text, size));
	return buf;
}

const char *units_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

char *units_exact(char buf[UNITS_MAX + 8], uint64_t value)
{
	char digits[UNITS_MAX];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *out = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}

static const struct {
	const char *name;
	uint64_t ns;
} units_suffix[] = {
	{ "", NS_PER_S },
	{ "s", NS_PER_S },
	{ "ms", NS_PER_MS },
	{ "us", NS_PER_US },
	{ "m", 60 * NS_PER_S },
	{ "h", 3600 * NS_PER_S },
};

/*
 * Reads digits with at most one point; keeps nine decimals, as billionths. Returns the bytes read;
 * 0 if it is no number or a huge one.
 */
static size_t units_number(const char *text, uint64_t *whole, uint64_t *billionths)
{
	uint64_t place = 100000000;
	size_t i = 0, digits = 0;

	*whole = *billionths = 0;
	for (; text[i] >= '0' && text[i] <= '9'; i++, digits++) {
		*whole = *whole * 10 + (uint64_t)(text[i] - '0');
		if (*whole > 1000000000)
			return 0;
	}
	if (text[i] == '.') {
		for (i++; text[i] >= '0' && text[i] <= '9'; i++, digits++, place /= 10)
			*billionths += (uint64_t)(text[i] - '0') * place;
	}
	return digits ? i : 0;
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	uint64_t whole, billionths, high, low;
	size_t used = units_number(text, &whole, &billionths);

	if (!used)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units_suffix) / sizeof(units_suffix[0]); i++) {
		if (strcmp(text + used, units_suffix[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units_suffix[i].ns, &high))
			return -EINVAL;
		/* In two steps: a billionth of an hour times 10^9 does not fit in 64 bits. */
		low = (uint64_t)((double)billionths * 1e-9 * (double)units_suffix[i].ns + 0.5);
		if (__builtin_add_overflow(high, low, &high))
			return -EINVAL;
		*ns = high;
		return 0;
	}
	return -EINVAL;
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmg";
	const char *unit;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno)
		return -EINVAL;
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (*bytes > UINT64_MAX >> shift)
			return -EINVAL;
		*bytes <<= shift;
		end++;
	}
	return *end == '\0' ? 0 : -EINVAL;
}

char *units_uptime(char buf[UNITS_MAX], uint64_t ns)
{
	uint64_t s = ns / 1000000000u, h = s / 3600, d = h / 24;
	unsigned mm = (unsigned)(s / 60 % 60), ss = (unsigned)(s % 60);

	if (d)
		snprintf(buf, UNITS_MAX, "%" PRIu64 "d %02u:%02u:%02u", d, (unsigned)(h % 24), mm,
			ss);
	else if (h)
		snprintf(buf, UNITS_MAX, "%u:%02u:%02u", (unsigned)h, mm, ss);
	else
		snprintf(buf, UNITS_MAX, "%u:%02u", mm, ss);
	return buf;
}
