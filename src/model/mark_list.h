/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks: the figures of each call site at a marked moment, so that any two marks, or one and now,
 * can be compared. A mark takes memory in proportion to the sites; the number of marks is not
 * limited. Main thread.
 */
#ifndef SRC_MODEL_MARK_LIST_H
#define SRC_MODEL_MARK_LIST_H

#include "src/model/snapshot.h"

/* The marks of one program image. Empty is all zeros. Marks stay until mark_list_free. */
struct mark_list {
	struct snap_mark *last;
	unsigned count;
};

/*
 * Adds a mark with a copy of its sites, which may be in any order. A number that is not above the
 * last mark's is replaced by the next one. 0 or -ENOMEM.
 */
int mark_list_add(struct mark_list *m, const struct snap_mark *moment);
struct snap_mark *mark_list_find(const struct mark_list *m, unsigned number);
/* `name` is cleaned and cut. */
void mark_list_rename(struct snap_mark *moment, const char *name);
void mark_list_free(struct mark_list *m);

/* The figures of a site at a mark; zeros for a site that did not exist yet. */
struct snap_mark_site mark_list_site(const struct snap_mark *moment, uint32_t id);
/* Fills in `since` of all sites, except kept_*, for the time between s->since and s->until. */
void mark_list_apply(const struct snapshot *s, struct snap_site *sites);
/* The same for the whole program, between any two marks; `until` NULL: now. */
struct snap_since mark_list_between(
	const struct snapshot *s, const struct snap_mark *since, const struct snap_mark *until);
/* Whether alive_* of mark `to` are valid; NULL: kept_* of s->newest. */
bool mark_list_is_counted(const struct snapshot *s, const struct snap_mark *to);
/* "mark 2", "mark 2 (after warm-up)". */
#define MARK_LIST_TEXT (SNAP_MARK_NAME + 24)
const char *mark_list_text(const struct snap_mark *moment, char buf[MARK_LIST_TEXT]);

#endif
