/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of what was allocated between two marks is still live. Once there is a mark, a walk over
 * the live table sorts the blocks by allocation time (src/session/live_walk.h). Main thread.
 */
#ifndef SRC_SESSION_SINCE_MARK_H
#define SRC_SESSION_SINCE_MARK_H

#include "src/model/mark_list.h"
#include "src/session/live_allocs.h"
#include "src/session/live_group.h"

struct since_mark_site {
	uint64_t blocks, bytes; /* live, and allocated in between */
	uint64_t of; /* blocks allocated in between, by the time of the walk */
};

/* What a walk is to count: the blocks between any two of these marks, which stay, and in a span. */
struct since_mark_plan {
	struct mark_list marks; /* as they were: not owned */
	const struct snap_mark *since, *until; /* as in struct snapshot */
};

/* All zeros: empty. */
struct since_mark {
	struct since_mark_site *site; /* owned, by id */
	uint32_t room;
	bool known;
	struct since_mark_walk *walk; /* NULL between two walks */
	struct since_mark_plan plan; /* of the last walk, which counted: */
	uint64_t alive_blocks, alive_bytes; /* live, and allocated after the last moment */
	uint64_t newest_of; /* blocks allocated after it */
};

/* What a walk is to count for a snapshot, which has since and until set. */
struct since_mark_plan since_mark_plan(const struct mark_list *m, const struct snapshot *s);
/* Whether the last walk did not count what it asks for. */
bool since_mark_differ(
	const struct since_mark *b, const struct mark_list *m, const struct snapshot *s);
/* Before a walk over the live table (src/session/live_walk.h). `s`: the current snapshot, which may
 * have later marks than the plan. 0 or -ENOMEM. */
int since_mark_start(
	struct since_mark *b, const struct since_mark_plan *p, const struct snapshot *s);
/* During the walk, for each group of blocks; and after it. `whole`: it saw all blocks. `at`: what
 * was allocated by its time; NULL: as in the snapshot. */
void since_mark_group(struct since_mark *b, const struct live_group *g);
void since_mark_end(
	struct since_mark *b, const struct snapshot *s, bool whole, const struct live_allocs *at);
/* Fills in the counts of the last walk, if it was made for this span. */
void since_mark_fill(const struct since_mark *b, struct snapshot *s, struct snap_site *sites);
void since_mark_free(struct since_mark *b);

#endif
