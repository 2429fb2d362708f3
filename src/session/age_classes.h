/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ages of live blocks: the oldest and the youngest of each call site, and, for the one site on
 * display, the number of blocks in each age class. No counter of the program holds this; a walk
 * over the live table finds it (src/session/live_walk.h). Main thread.
 */
#ifndef SRC_SESSION_AGE_CLASSES_H
#define SRC_SESSION_AGE_CLASSES_H

#include "src/model/growth.h"
#include "src/session/live_group.h"

/* Blocks of one site that were allocated in one span of time. */
struct age_classes_class {
	uint64_t from_ns, to_ns; /* since the program's start */
	uint64_t allocs; /* blocks allocated then */
	uint64_t blocks, bytes; /* those of them that are live */
};
#define AGE_CLASSES (GROWTH_SPANS + 1)

/* The ages of one session's blocks. All zeros: no walk was made. */
struct age_classes {
	struct age_classes_site *site; /* by id */
	uint32_t room;
	bool known;
	/* One site's classes, the oldest first. The first holds what came before all spans. */
	bool has_classes;
	uint32_t classes_of;
	uint64_t counted; /* the site's allocations when the classes were made */
	unsigned classes;
	struct age_classes_class class[AGE_CLASSES];
};

/* Switches ages on or off, for all sessions. */
void age_classes_want(bool wanted);
bool age_classes_wanted(void);
/* Before a walk: prepares the ages, and the classes of one site. Both are optional. -ENOMEM: the
 * walk gives no ages. */
int age_classes_start(struct age_classes *a, uint32_t sites);
void age_classes_start_classes(struct age_classes *a, uint32_t site, uint64_t allocs,
	const struct growth_span *span, unsigned spans, uint64_t created_ns);
/*
 * After the walk, when the site has allocated `allocs`. Allocations were counted at ticks; live
 * blocks are sorted by allocation time; and the walk came after the last tick. So allocations since
 * that tick are added to the newest class, and a block counted on one side of a tick but allocated
 * on the other moves to the class of its allocation time. No class then has more live blocks than
 * allocations.
 */
void age_classes_end_classes(struct age_classes *a, uint64_t allocs);
/* During the walk, for each group of blocks. */
void age_classes_group(struct age_classes *a, const struct live_group *g);
void age_classes_group_class(struct age_classes *a, const struct live_group *g);
/* Fills in the ages of the snapshot's sites. */
void age_classes_fill(const struct age_classes *a, struct snapshot *s, struct snap_site *sites);
void age_classes_free(struct age_classes *a);

#endif
