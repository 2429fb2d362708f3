/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding points of a timeline (timeline.h). Pure. */
#include "src/model/timeline.h"

size_t timeline_index(const struct timeline *t, uint64_t ns)
{
	size_t low = 0, high = t->npoints;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->points[middle].ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t timeline_rise(const struct timeline *t, size_t i)
{
	uint64_t before, now;

	if (i == 0 || i >= t->npoints)
		return 0;
	before = t->points[i - 1].live_bytes;
	now = t->points[i].live_bytes;
	return now > before ? now - before : 0;
}

/* The part of the time in which a program may start, and the part of its most live bytes that a
 * later rise has at least, or else the start is what rose. */
#define START_PART 10
#define LATER_PART 100

static uint64_t largest_rise_after(const struct timeline *t, size_t i)
{
	uint64_t most = 0;

	while (++i < t->npoints)
		if (timeline_rise(t, i) > most)
			most = timeline_rise(t, i);
	return most;
}

size_t timeline_start(const struct timeline *t)
{
	uint64_t part, most = 0;
	size_t i = 0;

	if (t->npoints < 2)
		return 0;
	part = t->points[t->npoints - 1].ns / START_PART;
	while (i + 1 < t->npoints && t->points[i + 1].ns <= part && timeline_rise(t, i + 1) > 0)
		i++;
	for (size_t k = 0; k < t->npoints; k++)
		if (t->points[k].live_bytes > most)
			most = t->points[k].live_bytes;
	return largest_rise_after(t, i) >= most / LATER_PART ? i : 0;
}

/* Whether rise `a` comes before rise `b`: those of the start last, larger ones first. */
static bool jumps_before(const struct timeline *t, size_t start, size_t a, size_t b)
{
	uint64_t left = timeline_rise(t, a), right = timeline_rise(t, b);

	if ((a <= start) != (b <= start))
		return b <= start;
	return left != right ? left > right : a < b;
}

size_t timeline_jump(const struct timeline *t, size_t after)
{
	size_t found = 0, start = timeline_start(t);

	for (size_t i = 1; i < t->npoints; i++) {
		uint64_t rise = timeline_rise(t, i);

		if (rise <= timeline_rise(t, i - 1) || rise < timeline_rise(t, i + 1))
			continue;
		if ((!after || jumps_before(t, start, after, i)) &&
			(!found || jumps_before(t, start, i, found)))
			found = i;
	}
	return found;
}
