/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marked moments: what each call site had then, so that any two moments, or one and now, can be
 * compared. One takes memory by its sites, and there may be as many as anyone wants. Main thread.
 */
#ifndef SRC_MODEL_MARK_LIST_H
#define SRC_MODEL_MARK_LIST_H

#include "src/model/snapshot.h"

/* Those of one image of the program. Empty is all zeros. Moments stay until moments_free. */
struct moments {
	struct snap_moment *last;
	unsigned count;
};

/*
 * Adds one, with a copy of its sites, in any order. A number that is not above the last one's is
 * replaced by the next. 0 or -ENOMEM.
 */
int moments_add(struct moments *m, const struct snap_moment *moment);
struct snap_moment *moments_find(const struct moments *m, unsigned number);
/* `name` is cleaned and cut. */
void moments_name(struct snap_moment *moment, const char *name);
void moments_free(struct moments *m);

/* What the site of this id had then; zeros for one that there was not yet. */
struct snap_moment_site moments_site(const struct snap_moment *moment, uint32_t id);
/*
 * Fills `since` of all sites but for its kept_*, between s->since and s->until, which are set. Of
 * a site that was gone in between there is nothing to say.
 */
void moments_apply(const struct snapshot *s, struct snap_site *sites);
/* The same for the whole program, of any two moments; `until` NULL: now. */
struct snap_since moments_between(
	const struct snapshot *s, const struct snap_moment *since, const struct snap_moment *until);
/* "mark 2", "mark 2 (after warm-up)". */
#define MOMENTS_TEXT (SNAP_MOMENT_NAME + 24)
const char *moments_text(const struct snap_moment *moment, char buf[MOMENTS_TEXT]);

#endif
