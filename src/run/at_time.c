/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments as people type them (at_time.h). Pure; any thread. */
#include "src/run/at_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/units.h"

#define PART_MAX  96 /* bytes of one end of a range: a mark's name and its prefix */
#define NS_PER_S  UINT64_C(1000000000)
#define COLONS	  2 /* h:mm:ss */
#define SHARE_ALL 100.0
/* A launched program's first tick comes a moment after its start: what is asked of the time before
 * is that tick. */
#define START_NS (2 * NS_PER_S)

enum at_kind { AT_END, AT_PEAK, AT_MARK, AT_SHARE, AT_NS };

struct at {
	enum at_kind kind;
	const char *mark;
	double share; /* 0 to 1 */
	uint64_t ns;
};

/* ---- text --------------------------------------------------------------------------------- */

/* "0:11", "1:05:00", "1:30.5": as the timeline's axis has them. */
static bool clock_parse(const char *text, uint64_t *ns)
{
	uint64_t whole = 0, part;
	char *end;

	for (int colons = 0; strchr(text, ':'); colons++) {
		part = strtoul(text, &end, 10);
		if (*text < '0' || *text > '9' || *end != ':' || colons == COLONS ||
			part > 1000000 || (colons && part > 59))
			return false;
		whole = (whole + part) * 60;
		text = end + 1;
	}
	if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.")] ||
		units_parse_duration(text, &part) != 0 || part >= 60 * NS_PER_S)
		return false;
	*ns = whole * NS_PER_S + part;
	return true;
}

/* "12.5s", "1m30s", "1h5m": numbers with units, one after the other. */
static bool spans_parse(const char *text, uint64_t *ns)
{
	char span[32];
	uint64_t part;

	for (*ns = 0; *text; text += strlen(span)) {
		size_t digits = strspn(text, "0123456789."),
		       len = digits + strcspn(text + digits, "0123456789.");

		if (digits == 0 || len >= sizeof(span))
			return false;
		snprintf(span, sizeof(span), "%.*s", (int)len, text);
		if (units_parse_duration(span, &part) != 0 || __builtin_add_overflow(*ns, part, ns))
			return false;
	}
	return true;
}

static bool share_parse(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789.");

	if (digits == 0 || strcmp(text + digits, "%") != 0)
		return false;
	*share = strtod(text, NULL) / SHARE_ALL;
	return *share <= 1;
}

static int at_parse(const char *text, struct at *out)
{
	*out = (struct at){ .kind = AT_NS };
	if (!strcmp(text, "end"))
		out->kind = AT_END;
	else if (!strcmp(text, "peak"))
		out->kind = AT_PEAK;
	else if (!strncmp(text, "mark:", 5) && text[5])
		*out = (struct at){ .kind = AT_MARK, .mark = text + 5 };
	else if (share_parse(text, &out->share))
		out->kind = AT_SHARE;
	else if (!*text ||
		 !(strchr(text, ':') ? clock_parse(text, &out->ns) : spans_parse(text, &out->ns)))
		return -EINVAL;
	return 0;
}

/* "A..B". `first`: PART_MAX bytes for A. Returns B, or NULL: `text` is one moment. */
static const char *range_split(const char *text, char *first)
{
	const char *dots = strstr(text, "..");

	if (dots)
		snprintf(first, PART_MAX, "%.*s", (int)(dots - text), text);
	return dots ? dots + 2 : NULL;
}

int at_time_check(const char *text)
{
	char first[PART_MAX];
	const char *second = range_split(text, first);
	struct at at;

	if (second && at_parse(first, &at) != 0)
		return -EINVAL;
	return at_parse(second ? second : text, &at);
}

/* ---- moments ------------------------------------------------------------------------------ */

/* A mark's name, or its number. */
static const struct snap_mark *mark_find(const struct snapshot *last, const char *name)
{
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	for (const struct snap_mark *m = last->moments; m; m = m->before)
		if (!strcmp(m->name, name))
			return m;
	for (const struct snap_mark *m = last->moments; m; m = m->before)
		if (*end == '\0' && m->number == number)
			return m;
	return NULL;
}

/* The highest kept point. */
static uint64_t highest_ns(const struct timeline *t)
{
	size_t best = 0;

	for (size_t i = 1; i < t->npoints; i++)
		if (t->points[i].live_bytes > t->points[best].live_bytes)
			best = i;
	return t->points[best].ns;
}

static uint64_t first_ns(const struct timeline *t)
{
	return t && t->npoints ? t->points[0].ns : 0;
}

static uint64_t last_ns(const struct snapshot *last, const struct timeline *t)
{
	return t && t->npoints ? t->points[t->npoints - 1].ns : last->uptime_ns;
}

static int failed_mark(const struct at *at, char *message)
{
	snprintf(message, AT_TIME_MESSAGE_MAX, "no mark has the name or number %.64s", at->mark);
	return -ENODATA;
}

/* The time of one end of a range, or of a moment that is neither now nor the exact peak. */
static int at_ns(const struct at *at, const struct snapshot *last, const struct timeline *t,
	uint64_t *ns, char *message)
{
	uint64_t from = first_ns(t), to = last_ns(last, t);
	const struct snap_mark *mark;

	*ns = at->kind == AT_NS ? at->ns : to;
	if (at->kind == AT_PEAK)
		*ns = last->totals.has_at_peak || !t || !t->npoints ? last->totals.peak_ns
								    : highest_ns(t);
	if (at->kind == AT_SHARE)
		*ns = from + (uint64_t)(at->share * (double)(to - from) + 0.5);
	if (at->kind == AT_MARK) {
		mark = mark_find(last, at->mark);
		if (!mark)
			return failed_mark(at, message);
		*ns = mark->ns;
	}
	return 0;
}

/* Whether a time is within what is kept. */
static int kept_check(
	uint64_t ns, const struct snapshot *last, const struct timeline *t, char *message)
{
	char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX];
	uint64_t from = first_ns(t), to = last_ns(last, t);

	if (!t || t->npoints == 0) {
		snprintf(message, AT_TIME_MESSAGE_MAX,
			"no history is kept there: only \"peak\" and \"end\" can be shown");
		return -ENODATA;
	}
	if (ns <= to && (ns >= from || from <= START_NS))
		return 0;
	snprintf(message, AT_TIME_MESSAGE_MAX, "%s is %s: only %s to %s is kept",
		units_duration(a, ns), ns < from ? "too early" : "too late",
		units_duration(b, from), units_duration(c, to));
	return -ENODATA;
}

static int one_find(const struct at *at, const struct snapshot *last, const struct timeline *t,
	struct moment *out, char *message)
{
	int rc;

	*out = (struct moment){ .kind = SNAP_NOW, .ns = last->uptime_ns };
	if (at->kind == AT_END)
		return 0;
	out->kind = at->kind == AT_PEAK && last->totals.has_at_peak ? SNAP_PEAK : SNAP_PAST;
	rc = at_ns(at, last, t, &out->ns, message);
	if (rc == 0 && at->kind == AT_MARK)
		out->mark = mark_find(last, at->mark)->number;
	return rc == 0 && out->kind == SNAP_PAST ? kept_check(out->ns, last, t, message) : rc;
}

static int range_find(const struct at *from, const struct at *to, const struct snapshot *last,
	const struct timeline *t, struct moment *out, char *message)
{
	int rc;

	*out = (struct moment){ .kind = SNAP_RANGE };
	rc = at_ns(from, last, t, &out->from_ns, message);
	if (rc == 0)
		rc = at_ns(to, last, t, &out->ns, message);
	if (rc == 0)
		rc = kept_check(out->from_ns, last, t, message);
	if (rc == 0)
		rc = kept_check(out->ns, last, t, message);
	if (rc == 0 && out->ns < out->from_ns) {
		snprintf(message, AT_TIME_MESSAGE_MAX, "the range ends before it begins");
		rc = -EINVAL;
	}
	return rc;
}

int at_time_find(const char *text, const struct snapshot *last, const struct timeline *t,
	struct moment *out, char *message)
{
	char first[PART_MAX];
	const char *second = range_split(text, first);
	struct at from, to;

	if (at_parse(second ? second : text, &to) != 0 || (second && at_parse(first, &from) != 0)) {
		snprintf(message, AT_TIME_MESSAGE_MAX, "not a moment");
		return -EINVAL;
	}
	return second ? range_find(&from, &to, last, t, out, message)
		      : one_find(&to, last, t, out, message);
}
