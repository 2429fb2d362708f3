/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks: the figures of each call site at a marked moment, so that any two marks, or one and now,
 * can be compared. A mark takes memory in proportion to the sites; the number of marks is not
 * limited. Main thread.
 */
#ifndef SRC_MODEL_MARK_LIST_H
#define SRC_MODEL_MARK_LIST_H

#include "src/model/snapshot.h"

/* The marks of one program image. Empty is all zeros. Marks stay until moments_free. */
struct moments {
	struct snap_moment *last;
	unsigned count;
};

/*
 * Adds a mark with a copy of its sites, which may be in any order. A number that is not above the
 * last mark's is replaced by the next one. 0 or -ENOMEM.
 */
int moments_add(struct moments *m, const struct snap_moment *moment);
struct snap_moment *moments_find(const struct moments *m, unsigned number);
/* `name` is cleaned and cut. */
void moments_name(struct snap_moment *moment, const char *name);
void moments_free(struct moments *m);

/* The figures of a site at a mark; zeros for a site that did not exist yet. */
struct snap_moment_site moments_site(const struct snap_moment *moment, uint32_t id);
/* Fills in `since` of all sites, except kept_*, for the time between s->since and s->until. */
void moments_apply(const struct snapshot *s, struct snap_site *sites);
/* The same for the whole program, between any two marks; `until` NULL: now. */
struct snap_since moments_between(
	const struct snapshot *s, const struct snap_moment *since, const struct snap_moment *until);
/* "mark 2", "mark 2 (after warm-up)". */
#define MOMENTS_TEXT (SNAP_MOMENT_NAME + 24)
const char *moments_text(const struct snap_moment *moment, char buf[MOMENTS_TEXT]);

#endif
