/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How old the live blocks of each call site are: the births of the oldest and the youngest; and of
 * one site, which somebody looks at, how many blocks of each age are alive. Nobody counts that as
 * the program runs: the live table is walked for it (src/session/live_walk.h). Main thread.
 */
#ifndef SRC_SESSION_AGE_CLASSES_H
#define SRC_SESSION_AGE_CLASSES_H

#include "src/model/growth.h"
#include "src/read/read.h"

/* Blocks of one site that were allocated in one span of time. */
struct ages_class {
	uint64_t from_ns, to_ns; /* since the program's start */
	uint64_t allocs; /* so many, */
	uint64_t blocks, bytes; /* of which these are alive */
};
#define AGES_CLASSES (GROWTH_SPANS + 1)

/* Of one session. All zeros: nothing was read. */
struct ages {
	struct ages_site *site; /* by id */
	uint32_t room;
	bool known;
	/* Of one site: spans, the oldest first; the first of them is what came before them. */
	bool has_classes;
	uint32_t classes_of;
	uint64_t counted; /* what the site had allocated when they were made */
	unsigned classes;
	struct ages_class class[AGES_CLASSES];
};

/* From now on all sessions read them, or none does. */
void ages_want(bool wanted);
bool ages_wanted(void);
/* Before a walk: the ages, or none; and the classes, or none. -ENOMEM: not the ages. */
int ages_start(struct ages *a, uint32_t sites);
void ages_start_classes(struct ages *a, uint32_t site, uint64_t allocs,
	const struct growth_span *span, unsigned spans, uint64_t created_ns);
/*
 * After the walk: by then the site has allocated `allocs`. The spans' allocations were counted at
 * ticks, the living blocks are sorted by their births, and the walk came after the last tick. So
 * what was allocated meanwhile is added to the newest class, and what was counted on one side of a
 * tick and born on the other moves to the class of its birth: no class has more alive than
 * allocated.
 */
void ages_end_classes(struct ages *a, uint64_t allocs);
/* During it, for each block. */
void ages_block(struct ages *a, const struct read_block *b);
void ages_block_class(struct ages *a, const struct read_block *b);
/* Tells the ages that the blocks of the snapshot's sites have. */
void ages_tell(const struct ages *a, struct snapshot *s, struct snap_site *sites);
void ages_free(struct ages *a);

#endif
