/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live blocks in groups: what a walk over the live table sums up. Here each block is a group of its
 * own. From another machine come groups of blocks that were allocated between two cuts, as the
 * walk's plan needs them (src/session/live_plan.h). Pure.
 */
#ifndef SRC_SESSION_LIVE_GROUP_H
#define SRC_SESSION_LIVE_GROUP_H

#include "src/read/read.h"
#include "src/util/bytes.h"

/* Blocks that one thread allocated at one site. */
struct live_group {
	uint32_t site, slot, counter; /* as in struct read_block */
	uint64_t first, last; /* when the first and the last was allocated, in ticks */
	uint64_t blocks, bytes; /* sampled blocks by their weight */
};

struct live_group live_group_of(const struct read_block *b);

/* A time that separates groups: blocks allocated from this tick on are not in a group with earlier
 * ones. */
struct live_cut {
	uint32_t site; /* LIVE_CUT_ALL: of all sites */
	uint64_t tick;
};
#define LIVE_CUT_ALL  UINT32_MAX
#define LIVE_CUTS_MAX 1024u

struct live_cuts {
	unsigned count;
	bool full; /* some found no room */
	struct live_cut cut[LIVE_CUTS_MAX];
};

void live_cuts_add(struct live_cuts *c, uint32_t site, uint64_t tick);
void live_cuts_put(struct bytes *b, const struct live_cuts *c);
/* 0 or -EPROTO. */
int live_cuts_get(struct bytes_cursor *c, struct live_cuts *out);

/* Groups in the making. */
struct live_groups;
/* NULL: no memory. */
struct live_groups *live_groups_new(const struct live_cuts *c);
void live_groups_free(struct live_groups *g);
/* Adds a block to its group. False: there is no memory, or there are too many groups, which are
 * incomplete then. */
bool live_groups_add(struct live_groups *g, const struct read_block *b);
/* Sorts and writes them. */
void live_groups_put(struct bytes *b, struct live_groups *g);
/* Calls `visit` for each group in a copy of the cursor. 0 or -EPROTO: then not for all. */
int live_groups_each(
	struct bytes_cursor c, void (*visit)(void *ctx, const struct live_group *g), void *ctx);

#endif
