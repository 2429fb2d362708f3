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

#define ALIVE_POINTS 12u /* of a thread's past, for its growth: one each second at most */

struct alive_sum {
	uint64_t blocks, bytes;
};

/* Of one session. All zeros: nothing was read. */
struct alive {
	struct alive_sum *counter; /* owned; by number, which is that of a slot at a site */
	uint32_t room;
	bool known;
	struct alive_sum all, at_site; /* of all blocks, and of those of `site` */
	uint32_t site;
	struct alive_sum slot[HT_SLOTS_MAX];
	/* Readings of the bytes by slot, the latest at (points - 1) % ALIVE_POINTS. */
	uint64_t (*past)[ALIVE_POINTS]; /* owned; by slot */
	uint64_t past_ns[ALIVE_POINTS];
	unsigned points;
};

/* Before a walk; one site's sum is wanted, too. -ENOMEM: none of this. */
int alive_start(struct alive *a, const struct read_segment *s, uint32_t site);
/* During it, for each block. */
void alive_block(struct alive *a, const struct read_block *b);
/* After it: at `now_ns` all were seen. */
void alive_end(struct alive *a, uint64_t now_ns);
/* Tells it of the snapshot's threads and shares, which are the snapshot's own. */
void alive_tell(const struct alive *a, struct snapshot *s);
/* The same of the threads of the site that the walk was for. */
void alive_tell_site(const struct alive *a, struct snap_detail *d);
void alive_free(struct alive *a);

#endif
