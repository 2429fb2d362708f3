/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding points of a time line (timeline.h). Pure. */
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

size_t timeline_jump(const struct timeline *t)
{
	uint64_t most = 0;
	size_t found = 0;

	for (size_t i = 1; i < t->npoints; i++) {
		uint64_t before = t->points[i - 1].live_bytes, now = t->points[i].live_bytes;

		if (now > before && now - before > most) {
			most = now - before;
			found = i;
		}
	}
	return found;
}
