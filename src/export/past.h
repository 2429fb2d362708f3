/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live bytes over time, for formats that have a time axis: from the timeline as far as it reaches
 * back, and from the segment's history before that. Pure; main thread.
 */
#ifndef SRC_EXPORT_PAST_H
#define SRC_EXPORT_PAST_H

#include "src/model/timeline.h"

/*
 * The points of a process by time, from its start to the snapshot's moment or, where the timeline
 * has more, to its end; the snapshot's own moment is one of them. Points between two that are kept
 * are in their low_bytes and high_bytes. At most `most` (>= 4) points: beyond that neighbours are
 * merged, and their extremes with them. `t` may be NULL. The caller frees the array. NULL and
 * *npoints 0: no memory.
 */
struct timeline_point *past_points(
	const struct snapshot *s, const struct timeline *t, size_t most, size_t *npoints);

#endif
