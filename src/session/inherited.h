/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a forked child has mapped because its parent had: the child's table begins empty, so names
 * come from the segments of its parent, of that one's parent, and so on, as far as they are there.
 * What the parent has unmapped since the fork has no name. Read once, on the main thread.
 */
#ifndef SRC_SESSION_INHERITED_H
#define SRC_SESSION_INHERITED_H

#include "src/memory/map_ranges.h"
#include "src/session/stack_registration.h"

/* Starts as zeros. */
struct inherited {
	bool is_read;
	struct map_ranges ranges; /* as of the fork; sites by snapshot.inherited */
	struct snap_site *site; /* owned; for snapshots */
	size_t sites;
};

void inherited_free(struct inherited *in);
/* Once: reads what the process of a segment inherited, if it was forked, and registers its sites. A
 * failure is noted (src/util/shortage.h). */
void inherited_read(struct inherited *in, struct read_segment *segment,
	struct stack_registration *registration, const struct model *model);

#endif
