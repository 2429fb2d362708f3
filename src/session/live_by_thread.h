/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of that which each thread allocated is alive: of all of it, and at each call site. A thread
 * is told by its slot, which passes to another when it ends. Nobody counts that as the program
 * runs, since whoever frees a block may be another thread: the live table is walked for it
 * (src/session/live_walk.h). Main thread.
 */
#ifndef SRC_SESSION_LIVE_BY_THREAD_H
#define SRC_SESSION_LIVE_BY_THREAD_H

#include "src/model/snapshot.h"
#include "src/read/read.h"

#define LIVE_BY_THREAD_POINTS                                                                      \
	12u /* of a thread's past, for its growth: one each second at most                         \
	     */

struct live_by_thread_sum {
	uint64_t blocks, bytes;
};

/* Of one session. All zeros: nothing was read. */
struct live_by_thread {
	struct live_by_thread_sum
		*counter; /* owned; by number, which is that of a slot at a site */
	uint32_t room;
	bool known;
	struct live_by_thread_sum all, at_site; /* of all blocks, and of those of `site` */
	uint32_t site;
	struct live_by_thread_sum slot[HT_SLOTS_MAX];
	/* Readings of the bytes by slot, the latest at (points - 1) % LIVE_BY_THREAD_POINTS. */
	uint64_t (*past)[LIVE_BY_THREAD_POINTS]; /* owned; by slot */
	uint64_t past_ns[LIVE_BY_THREAD_POINTS];
	unsigned points;
};

/* Before a walk; one site's sum is wanted, too. -ENOMEM: none of this. */
int live_by_thread_start(struct live_by_thread *a, const struct read_segment *s, uint32_t site);
/* During it, for each block. */
void live_by_thread_block(struct live_by_thread *a, const struct read_block *b);
/* After it: at `now_ns` all were seen. */
void live_by_thread_end(struct live_by_thread *a, uint64_t now_ns);
/* Tells it of the snapshot's threads and shares, which are the snapshot's own. */
void live_by_thread_fill(const struct live_by_thread *a, struct snapshot *s);
/* The same of the threads of the site that the walk was for. */
void live_by_thread_fill_site(const struct live_by_thread *a, struct snap_detail *d);
void live_by_thread_free(struct live_by_thread *a);

#endif
