/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One moment of a recording of all events: exact figures per site and in total. One thread. */
#ifndef SRC_RECORD_EVENT_REPLAY_H
#define SRC_RECORD_EVENT_REPLAY_H

#include "src/record/event_read.h"
#include "src/record/event_threads.h"

struct event_site {
	uint64_t live_bytes, live_blocks;
	uint64_t allocs, frees, alloc_bytes;
	uint64_t peak_bytes, temporary;
	uint64_t at_peak_bytes, at_peak_blocks;
};

struct event_replay {
	struct event_site *sites; /* by index (event_read_site_index) */
	uint32_t nsites;
	uint64_t ns; /* the moment: of the last event, or as asked */
	uint64_t allocs, frees, alloc_bytes, free_bytes, temporary;
	uint64_t live_bytes, live_blocks;
	uint64_t peak_bytes, peak_blocks, peak_ns;
	uint64_t peak_event; /* number of events up to the peak */
	uint64_t lost; /* events missing before that */
	struct snap_size sizes[SNAP_SIZE_BUCKETS];
	uint64_t lifetimes[SNAP_LIFE_BUCKETS];
	uint64_t history[SNAP_HISTORY_POINTS]; /* as struct snapshot's */
	unsigned history_points;
	uint64_t history_step_ns;
	struct event_threads threads;
};

/* Where a replay ends: with the last event of a time after the program's start, or earlier, after
 * so many events: several may have one time. */
struct event_until {
	uint64_t ns, events;
};
#define EVENT_UNTIL_NS(at) ((struct event_until){ (at), UINT64_MAX })
/* Replays a stream. 0 or -ENOMEM. */
int event_replay_run(struct event_recording *r, uint32_t stream, struct event_until until,
	struct event_replay *out);
void event_replay_free(struct event_replay *p);

#endif
