/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program's past as a line of points: what is kept of it (src/record makes it), and which
 * moment of it is shown. All times are nanoseconds since the program's start, as
 * snapshot.uptime_ns.
 */
#ifndef SRC_MODEL_TIMELINE_H
#define SRC_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "src/model/snapshot.h"

/* One kept tick, with the extremes since the kept tick before it. */
struct timeline_point {
	uint64_t ns;
	uint64_t live_bytes; /* at `ns` */
	uint64_t low_bytes, high_bytes; /* of live bytes, seen since the point before */
	uint64_t rss; /* 0: unknown */
	uint64_t allocs, minor_faults, major_faults; /* since the program's start */
	uint32_t threads;
	bool lost; /* events before this point were lost (--record-events) */
};

struct timeline {
	const struct timeline_point *points; /* by time; each one's moment can be shown */
	size_t npoints;
	uint64_t bytes, limit_bytes; /* memory that the past takes, and may take */
	const char *file; /* the recording; NULL: in memory only */
	bool replay; /* the file is read, not written */
	uint64_t file_bytes, file_limit_bytes; /* limit 0: none */
	double file_bytes_per_s; /* lately */
	const char *trouble; /* why the file is no longer written; NULL: nothing */
};

/* What snapshots are asked for. */
struct moment {
	enum snap_moment kind;
	uint64_t ns; /* SNAP_PAST, SNAP_RANGE: the last tick up to then */
	uint64_t from_ns; /* SNAP_RANGE */
	unsigned mark; /* SNAP_PAST: number of the mark that it is the moment of; 0: none */
};

/* Index of the last point with ns <= `ns`; the first point if there is none. `npoints` > 0. */
size_t timeline_index(const struct timeline *t, uint64_t ns);
/*
 * The last point of the program's start: of the rises without a pause in the first tenth of its
 * time. 0: none is kept, or nothing rose later by a hundredth of the most live bytes.
 */
size_t timeline_start(const struct timeline *t);
/*
 * The largest rise of live bytes between two neighbouring points: index of the second; 0: none. Of
 * rises in a row only those larger than their neighbours count, so that a ramp is not gone through
 * tick by tick. Those of the program's start come after all others. `after`: the next one after
 * the rise to this point; 0: the first.
 */
size_t timeline_jump(const struct timeline *t, size_t after);
/* The rise to point i from the one before it; 0: there is none. */
uint64_t timeline_rise(const struct timeline *t, size_t i);

#endif
