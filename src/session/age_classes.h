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
struct age_classes_class {
	uint64_t from_ns, to_ns; /* since the program's start */
	uint64_t allocs; /* so many, */
	uint64_t blocks, bytes; /* of which these are alive */
};
#define AGE_CLASSES (GROWTH_SPANS + 1)

/* Of one session. All zeros: nothing was read. */
struct age_classes {
	struct age_classes_site *site; /* by id */
	uint32_t room;
	bool known;
	/* Of one site: spans, the oldest first; the first of them is what came before them. */
	bool has_classes;
	uint32_t classes_of;
	uint64_t counted; /* what the site had allocated when they were made */
	unsigned classes;
	struct age_classes_class class[AGE_CLASSES];
};

/* From now on all sessions read them, or none does. */
void age_classes_want(bool wanted);
bool age_classes_wanted(void);
/* Before a walk: the ages, or none; and the classes, or none. -ENOMEM: not the ages. */
int age_classes_start(struct age_classes *a, uint32_t sites);
void age_classes_start_classes(struct age_classes *a, uint32_t site, uint64_t allocs,
	const struct growth_span *span, unsigned spans, uint64_t created_ns);
/*
 * After the walk: by then the site has allocated `allocs`. The spans' allocations were counted at
 * ticks, the living blocks are sorted by their births, and the walk came after the last tick. So
 * what was allocated meanwhile is added to the newest class, and what was counted on one side of a
 * tick and born on the other moves to the class of its birth: no class has more alive than
 * allocated.
 */
void age_classes_end_classes(struct age_classes *a, uint64_t allocs);
/* During it, for each block. */
void age_classes_block(struct age_classes *a, const struct read_block *b);
void age_classes_block_class(struct age_classes *a, const struct read_block *b);
/* Tells the ages that the blocks of the snapshot's sites have. */
void age_classes_fill(const struct age_classes *a, struct snapshot *s, struct snap_site *sites);
void age_classes_free(struct age_classes *a);

#endif
