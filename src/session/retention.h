/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether growing sites retain what they gained. A leak does. A queue or a cache that turns over
 * has freed those blocks by now, although it may be fuller than before. The allocation times of
 * live blocks show which it is; a walk over the live table reads them (src/session/live_walk.h).
 * Main thread.
 */
#ifndef SRC_SESSION_RETENTION_H
#define SRC_SESSION_RETENTION_H

#include "src/model/growth.h"
#include "src/session/live_group.h"

#define RETENTION_SITES 64u /* sites checked: those that grow fastest */

/* One checked site. Times are since the program's start. */
struct retention_site {
	uint32_t id;
	uint64_t from_ns, middle_ns, to_ns; /* two successive spans in which it grew */
	uint64_t gained_old, gained_middle; /* bytes gained in each, */
	uint64_t alive_old, alive_middle; /* and bytes allocated in each that are live */
	bool few; /* too few blocks to judge */
};

/* One session's checks. All zeros: none yet. */
struct retention {
	uint8_t *which; /* by site id: its number in `site`, from 1; 0: not checked */
	uint32_t room;
	struct retention_site site[RETENTION_SITES];
	unsigned sites;
	bool known;
};

/* Whether any site of the snapshot has to be checked. */
bool retention_wanted(const struct snapshot *s);
/* Before a walk. `sites`: all ids are below it. -ENOMEM. */
int retention_start(struct retention *l, const struct snapshot *s, uint32_t sites);
/* During the walk, for each group of blocks. */
void retention_group(struct retention *l, const struct live_group *g);
/* Fills in the growth of the snapshot's sites, `sites`. */
void retention_fill(const struct retention *l, const struct snapshot *s, struct snap_site *sites);
void retention_free(struct retention *l);

#endif
