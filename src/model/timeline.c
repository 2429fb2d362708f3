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

size_t timeline_jump(const struct timeline *t, size_t after)
{
	uint64_t most = 0, below = after ? timeline_rise(t, after) : UINT64_MAX;
	size_t found = 0;

	for (size_t i = 1; i < t->npoints; i++) {
		uint64_t rise = timeline_rise(t, i);

		if (rise <= most || rise > below || (rise == below && i <= after))
			continue;
		if (rise <= timeline_rise(t, i - 1) || rise < timeline_rise(t, i + 1))
			continue;
		most = rise;
		found = i;
	}
	return found;
}
