/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites that the user does not want to see: one row sums them up, so that the sum of all
 * rows does not change. A rule is a filter (filter.h) of terms on text; it matches a site if it
 * matches a frame of its stack. A site is left out if a rule of `ignore` matches, or if there are
 * rules of `only` and none of these does. Main thread.
 */
#ifndef SRC_MODEL_IGNORED_H
#define SRC_MODEL_IGNORED_H

#include "src/model/filter.h"

#define IGNORED_RULES_MAX 32
#define IGNORED_NAME	  "(ignored)" /* the only frame of the row, and of what the program counts */

struct ignored_rules {
	const char *ignore[IGNORED_RULES_MAX], *only[IGNORED_RULES_MAX];
	unsigned nignore, nonly;
};

struct ignored;

/* Whether a rule is one. False: one line in `why`. */
bool ignored_is_rule(const char *text, char why[FILTER_WHY_MAX]);
/* NULL: there are no rules, or no memory. Copies what it needs. */
struct ignored *ignored_new(const struct ignored_rules *rules);
void ignored_free(struct ignored *g);
/*
 * Whether a site is left out, and by which frame of its stack: the innermost that a rule matches,
 * not counting inlined ones; *frame = IGNORED_WHOLE: by what none of them matches.
 */
#define IGNORED_WHOLE UINT32_MAX
bool ignored_decides(const struct ignored *g, const struct snap_site *site, uint32_t *frame);
/* Whether the program itself counts ignored sites at this one. */
bool ignored_is_total(const struct snap_site *site);
/* Whether this is the row of a snapshot, or of one derived from it: what a program can say of a
 * site by its id is not the row's. */
bool ignored_is_row(const struct snap_site *site);
/*
 * The snapshot with the row instead of the sites that are left out, and the rows of its leaks
 * summed up likewise. The row has the id of the oldest of these sites, as a group has, and a share
 * of each of their threads. The children are as they were. Takes the caller's reference of `s` and
 * returns one; `s` itself if nothing is left out, without memory, and if it is a diff, whose runs
 * have their rows already. `g` may be NULL.
 */
struct snapshot *ignored_take(struct ignored *g, struct snapshot *s);

#endif
