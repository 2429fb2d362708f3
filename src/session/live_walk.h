/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only a walk over all live blocks can find: their ages, what is still live of the allocations
 * between two marks, what growing sites retain, and which thread allocated what. One walk serves
 * all of these. Walks are spaced so that they take a small part of the time. On another machine the
 * agent makes them, and they arrive some ticks later. Main thread.
 */
#ifndef SRC_SESSION_LIVE_WALK_H
#define SRC_SESSION_LIVE_WALK_H

#include "src/far/order.h"
#include "src/session/age_classes.h"
#include "src/session/live_by_thread.h"
#include "src/session/live_plan.h"
#include "src/session/since_mark.h"
#include "src/session/retention.h"
#include "src/model/model.h"

/* One session's walks. All zeros: none yet. */
struct live_walk {
	struct age_classes ages;
	struct since_mark births;
	struct retention retention;
	struct live_by_thread alive;
	struct live_plan plan; /* of the last walk, */
	bool is_asked; /* or of one that an agent is to make */
	bool failed; /* or the agent could not do all of it: the next one waits until it is due */
	bool is_last; /* the last walk was made after the program's end */
	uint64_t due_ns;
	uint32_t site; /* the one on display */
	unsigned site_ticks; /* ticks until that ends, unless it is asked for again */
};

/* What a walk needs. */
struct live_walk_of {
	struct read_segment *segment;
	const struct model *model;
	const struct mark_list *moments;
	uint64_t created_ns; /* the program's start */
	uint32_t sites; /* all ids are below it */
	bool ended; /* the program has, or called exec: its blocks no longer change, */
	bool gone; /* and can no longer be walked: the last walk's figures stay */
	const struct far_order *far; /* an agent makes walks; NULL: they are made here */
	bool waits; /* for the agent: nobody looks at a screen */
};

/* Once a tick: walks if anything is asked for and a walk is due, and fills in the snapshot's
 * sites. */
void live_walk_update(struct live_walk *v, const struct live_walk_of *of, struct snapshot *s);
/* The ages of a site's blocks, as of the last walk. From now on, walks count them. */
void live_walk_detail(
	struct live_walk *v, uint32_t site, uint64_t uptime_ns, struct snap_detail *out);
void live_walk_free(struct live_walk *v);

#endif
