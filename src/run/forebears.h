/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments of processes that ended, or called exec, while those that they forked run on: a viewer
 * of such a child takes the names of what was mapped before the fork from there
 * (src/session/inherited.h). process_tree asks before it removes a segment. Main thread.
 */
#ifndef SRC_RUN_FOREBEARS_H
#define SRC_RUN_FOREBEARS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/target/target.h"

/* Levels above a running process whose segments stay: the most that are read for names. */
#define FOREBEARS_LEVELS 16u
/* Segments that stay at a time. A daemon needs one, and each takes about a megabyte. */
#define FOREBEARS_MAX 64u

struct forebears_kin;
struct forebears_held;

/* All zero: of no process. */
struct forebears {
	struct forebears_kin *kin; /* the segments that this look found */
	size_t nkin, kin_room;
	struct forebears_held *held; /* those that are to be removed once nobody needs them */
	size_t nheld, held_room;
	size_t from_before; /* of `held`, those that an earlier look left */
	size_t left_out; /* of `held`, those that count as left out of a report */
};

/* Removes a segment. `left_out`: as it was held. False: it could not, and is asked again later. */
typedef bool forebears_remove(void *ctx, const char *path, bool left_out);

void forebears_free(struct forebears *f);
/* Before a look at the directory; then forebears_note for each segment of the launch in it. */
void forebears_begin(struct forebears *f);
void forebears_note(struct forebears *f, const struct target_segment *t);
/* Takes over the removal of a segment. False: it cannot, the caller removes it now. */
bool forebears_hold(struct forebears *f, const char *path, bool left_out);
/* Whether a segment has stayed since an earlier look. */
bool forebears_holds(const struct forebears *f, const char *path);
/* After a look. */
void forebears_end(struct forebears *f);
/* Whether a running process of the last look descends by forks alone from that of a segment. */
bool forebears_needs(const struct forebears *f, const char *path);
/* Removes those that none does. */
void forebears_settle(struct forebears *f, forebears_remove *remove, void *ctx);
/* Removes all. */
void forebears_drop(struct forebears *f, forebears_remove *remove, void *ctx);

#endif
