/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks over the live blocks of a process on another machine: its agent makes them, and sends
 * groups of blocks (src/session/live_group.h).
 */
#ifndef SRC_SESSION_LIVE_FAR_H
#define SRC_SESSION_LIVE_FAR_H

#include "src/far/order.h"
#include "src/session/live_group.h"

struct live_request {
	struct live_cuts cuts;
	bool has_site; /* the allocations of `site` after the walk are wanted, too */
	uint32_t site;
	bool all; /* and those of all sites */
};

/* A walk that has been made; valid as long as the bytes it was read from. */
struct live_answer {
	struct bytes_cursor groups; /* for live_groups_each */
	uint64_t delay_ns; /* from the request to the walk */
	bool has_allocs;
	uint64_t allocs; /* of the request's site */
	struct bytes_cursor all; /* for live_allocs_get; empty if they were not asked for */
};

/* ---- the desk; main thread ---- */

/* Asks for a walk. 0 or -errno. */
int live_far_begin(const struct far_order *far, const struct live_request *r);
/* Waits `timeout_ms` at most. 1: it was made; 0: not yet; or -errno: it will not be. */
int live_far_take(const struct far_order *far, int timeout_ms, struct live_answer *out);

/* ---- the agent; any thread ---- */

/* 0 or -EPROTO. */
int live_far_request_get(struct bytes_cursor *c, struct live_request *out);
/* Makes a walk over the blocks of this segment, so long after it was asked for; `out` has failed on
 * any error. */
void live_far_answer(
	struct read_segment *s, const struct live_request *r, uint64_t delay_ns, struct bytes *out);

#endif
