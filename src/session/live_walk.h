/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only a walk over all live blocks can tell: their ages, what lives of what came between two
 * marks and of what growing sites gained, how many of each age a site has, and who allocated them.
 * One walk serves all that is asked for; it is made no more often than it takes a small part of the
 * time. Main thread.
 */
#ifndef SRC_SESSION_LIVE_WALK_H
#define SRC_SESSION_LIVE_WALK_H

#include "src/session/age_classes.h"
#include "src/session/live_by_thread.h"
#include "src/session/since_mark.h"
#include "src/session/retention.h"
#include "src/model/model.h"

/* Of one session. Empty is all zeros. */
struct live_walk {
	struct age_classes ages;
	struct since_mark births;
	struct retention retention;
	struct live_by_thread alive;
	uint64_t due_ns;
	uint32_t site; /* that is looked at */
	unsigned site_ticks; /* for so many it is, unless it is asked for again */
};

/* What a walk goes by. */
struct live_walk_of {
	struct read_segment *segment;
	const struct model *model;
	const struct moments *moments;
	uint64_t created_ns; /* the program's start */
	uint32_t sites; /* ids are below it */
};

/* Once a tick: walks, if anything is asked for and it is time to, and fills in the snapshot's
 * sites. */
void live_walk_update(struct live_walk *v, const struct live_walk_of *of, struct snapshot *s);
/* The ages of a site's blocks, as of the last walk; from now on they are looked at. */
void live_walk_detail(
	struct live_walk *v, uint32_t site, uint64_t uptime_ns, struct snap_detail *out);
void live_walk_free(struct live_walk *v);

#endif
