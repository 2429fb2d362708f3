/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a walk over the live blocks is for, as of one snapshot. The walk may come later: another
 * machine's agent makes it. Main thread.
 */
#ifndef SRC_SESSION_LIVE_PLAN_H
#define SRC_SESSION_LIVE_PLAN_H

#include "src/model/model.h"
#include "src/session/live_group.h"
#include "src/session/retention.h"
#include "src/session/since_mark.h"

/* All zeros: nothing. */
struct live_wants {
	bool ages, births, retention, alive;
	bool classes; /* ages of the blocks of one site */
	bool ended; /* the program had */
};

struct live_plan {
	struct live_wants wants;
	uint64_t made_ns; /* monotonic */
	struct since_mark_plan marks; /* births */
	/* classes: what was allocated in which span */
	uint32_t site;
	uint64_t allocs;
	struct growth_span span[GROWTH_SPANS];
	unsigned spans;
	struct retention retains; /* without blocks yet */
};

/* The spans of a site's ages. False: the snapshot has no such site. */
bool live_plan_classes(
	struct live_plan *p, const struct model *m, const struct snapshot *s, uint32_t site);
/* Where groups must be cut. Times of spans are by our clock, from `created_ns`. */
void live_plan_cuts(const struct live_plan *p, uint64_t created_ns, struct live_cuts *out);

#endif
