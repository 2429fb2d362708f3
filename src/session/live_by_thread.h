/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live blocks per allocating thread: in total, and at each call site. A thread is identified by its
 * slot, which passes to another thread when it ends. No counter of the program holds this, since
 * another thread may free a block; a walk over the live table finds it (src/session/live_walk.h).
 * Main thread.
 */
#ifndef SRC_SESSION_LIVE_BY_THREAD_H
#define SRC_SESSION_LIVE_BY_THREAD_H

#include "src/model/snapshot.h"
#include "src/session/live_group.h"

/* Readings kept per thread for its growth rate; at most one a second. */
#define LIVE_BY_THREAD_POINTS 12u

struct live_by_thread_sum {
	uint64_t blocks, bytes;
};

/* One session's sums. All zeros: no walk was made. */
struct live_by_thread {
	struct live_by_thread_sum *counter; /* owned; by counter, one for each slot and site */
	uint32_t room;
	bool known;
	uint64_t counted_ns; /* monotonic: when the last walk began */
	struct live_by_thread_sum all, at_site; /* all blocks, and the blocks of `site` */
	uint32_t site;
	struct live_by_thread_sum slot[HT_SLOTS_MAX];
	/* Live bytes per slot over time, the latest at (points - 1) % LIVE_BY_THREAD_POINTS. */
	uint64_t (*past)[LIVE_BY_THREAD_POINTS]; /* owned; by slot */
	uint64_t past_ns[LIVE_BY_THREAD_POINTS];
	unsigned points;
};

/* Before a walk, which also sums the blocks of `site`. -ENOMEM: the walk gives no sums. */
int live_by_thread_start(struct live_by_thread *a, const struct read_segment *s, uint32_t site);
/* During the walk, for each group of blocks. */
void live_by_thread_group(struct live_by_thread *a, const struct live_group *g);
/* After a walk that saw all blocks; `now_ns`: when it began. */
void live_by_thread_end(struct live_by_thread *a, uint64_t now_ns);
/* Fills in the snapshot's threads and shares, which the snapshot owns. */
void live_by_thread_fill(const struct live_by_thread *a, struct snapshot *s);
/* The same for the threads of the site that the walk was for. */
void live_by_thread_fill_site(const struct live_by_thread *a, struct snap_detail *d);
void live_by_thread_free(struct live_by_thread *a);

#endif
