/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether what growing sites gained is still alive. A leak keeps it; a queue or a cache that turns
 * over has freed by now what it had allocated then, though it may be fuller than it was. The live
 * blocks tell, by when they were born: they are walked for it (src/session/live_walk.h). Main
 * thread.
 */
#ifndef SRC_SESSION_RETENTION_H
#define SRC_SESSION_RETENTION_H

#include "src/model/growth.h"
#include "src/read/read.h"

#define RETENTION_SITES 64u /* are looked at: those that grow worst */

/* One that is looked at. Births are since the program's start. */
struct retention_site {
	uint32_t id;
	uint64_t from_ns, middle_ns, to_ns; /* two times at which it grew, one after the other; */
	uint64_t gained_old, gained_middle; /* what it gained in them, */
	uint64_t alive_old, alive_middle; /* and bytes that were allocated in them and are alive */
	bool few; /* so few blocks that nothing can be told */
};

/* Of one session. All zeros: nothing was looked at. */
struct retention {
	uint8_t *which; /* by site's id: which of `site` it is, from 1; 0: none */
	uint32_t room;
	struct retention_site site[RETENTION_SITES];
	unsigned sites;
	bool known;
};

/* Whether any of the snapshot's sites is to be looked at. */
bool retention_wanted(const struct snapshot *s);
/* Before a walk: nothing is known. `sites`: ids are below it. -ENOMEM. */
int retention_start(struct retention *l, const struct snapshot *s, uint32_t sites);
/* During it, for each block. */
void retention_block(struct retention *l, const struct read_block *b);
/* Tells the growing sites of a snapshot, `sites`, what was seen. */
void retention_fill(const struct retention *l, const struct snapshot *s, struct snap_site *sites);
void retention_free(struct retention *l);

#endif
