/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The internals of a history: for history*.c, and for the reader of recordings, whose groups are
 * in a file. Ticks are numbered through all groups; the tick's point has the same number. Main
 * thread.
 */
#ifndef SRC_RECORD_HISTORY_STORE_H
#define SRC_RECORD_HISTORY_STORE_H

#include "src/model/timeline.h"
#include "src/record/group.h"

/* Why thinning keeps a tick. */
#define HISTORY_MARK	1u /* the first one after a mark */
#define HISTORY_PEAK	2u /* the program's peak rose before it */
#define HISTORY_EXTREME 4u /* the highest or lowest total of a group that was thinned */

/* The last tick seen, for the flags and extremes of the next one. All zeros: none. */
struct history_seen {
	bool any;
	uint64_t ns, peak, lost;
	unsigned mark; /* number */
};

/* Where a history's parts are that it does not hold itself; all may be NULL. */
struct history_source {
	void *ctx;
	/* The raw ticks of a group without data. 0 or -errno. */
	int (*load)(void *ctx, const struct group *g, struct bytes *raw);
	/* Takes a new group's data away (and frees it). With it, the limit is one of the groups
	 * alone, and age is no reason to thin. 0 or -errno. */
	int (*store)(void *ctx, struct group *g);
	/* Fills in stack, function and kind of a site that the base lacks. False: unknown. */
	bool (*site)(void *ctx, uint32_t id, struct snap_site *out);
	/* The last leak scan up to a moment; NULL: none. */
	const struct snap_leaks *(*leaks)(void *ctx, uint64_t ns);
};

struct history {
	uint64_t limit_bytes;
	bool too_small; /* not even the present state fits: nothing is kept */
	struct timeline_point *points; /* owned; by tick */
	uint8_t *flags; /* owned; HISTORY_*, by tick */
	size_t npoints, points_room;
	struct group *groups; /* owned; complete ones */
	size_t ngroups, groups_room;
	/* The newest group, to which ticks are added. */
	struct bytes open, tick;
	uint32_t open_ticks;
	size_t key_bytes; /* of its key frame */
	struct state now; /* as of its last tick */
	struct tick_encoder encoder;
	struct history_seen seen;
	struct history_source source;
	struct timeline line;
};

/* The point of a snapshot, and its flags (HISTORY_*). Times rise, at least by 1. */
struct timeline_point history_point(
	struct history_seen *seen, const struct snapshot *s, uint8_t *flags);
/* Memory that it takes. */
size_t history_bytes(const struct history *h);
/* Appends a point. 0 or -ENOMEM. */
int history_point_add(struct history *h, const struct timeline_point *p, uint8_t flags);
/* Appends a complete group, whose points are there already. 0 or -ENOMEM: `g` is the caller's. */
int history_group_add(struct history *h, const struct group *g);
/* Ends the open group. 0 or -ENOMEM. */
int history_group_end(struct history *h);
/* Index of a group's first tick. */
size_t history_group_first(const struct history *h, size_t group);
/* The raw ticks of group `g`; the open one is number h->ngroups. 0 or -errno. */
int history_group_raw(const struct history *h, size_t g, struct bytes *raw);
/* Merges and drops ticks by age, and until the memory is below the limit (history_thin.c). */
void history_thin(struct history *h);

#endif
