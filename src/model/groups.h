/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call sites summed up by what they have in common: the line, the function, the file or the object
 * that they are named after. A group is a site to all that sorts, formats and draws sites; its
 * `group` tells. Pure; main thread.
 */
#ifndef SRC_MODEL_GROUPS_H
#define SRC_MODEL_GROUPS_H

#include "src/model/filter.h"

enum group_by {
	GROUP_STACK, /* the call sites themselves */
	GROUP_CALLER,
	GROUP_FUNCTION,
	GROUP_FILE,
	GROUP_MODULE,
	GROUP_THREAD, /* with snapshot.has_alive and shares; else there is no row */
	GROUP_COUNT
};

struct group_info {
	char letter; /* chooses it */
	const char *key; /* what --group takes */
	const char *choice; /* with the letter, for the chooser: "f function" */
	const char *title, *place; /* headers of COL_SITE and COL_LINE */
	const char *many; /* "functions" */
};
extern const struct group_info group_table[GROUP_COUNT];
/* The grouping that `key` names, or -1. */
int group_find(const char *key);

/* What is asked for. */
struct groups_wish {
	enum group_by by;
	bool show_hidden; /* sites are named after their innermost frame */
	/* Terms on text choose the sites that are summed up, terms on numbers the sums. May be
	 * NULL. */
	const struct filter *filter;
	uint64_t inside; /* not 0: no groups, but the sites of the group of this key */
};

/* Empty is all zeros. */
struct groups {
	struct snapshot snap; /* its sites are the groups; no reference */
	/* The rest is groups.c's. */
	struct snap_site *site;
	struct snap_group *group;
	double *error2; /* of each group: live bytes, blocks, allocs, allocated bytes */
	uint32_t *table; /* groups by key, 1 is the first */
	size_t capacity, mask;
};

/*
 * Makes g->snap of `snap`, which it is valid as long as. A group has the id of its oldest site, so
 * it keeps it; a thread's has GROUPS_THREAD_ID and the slot, which no site has. 0 or -ENOMEM: then
 * it has no sites.
 */
#define GROUPS_THREAD_ID 0x80000000u
int groups_make(struct groups *g, const struct snapshot *snap, const struct groups_wish *request);
void groups_free(struct groups *g);
/* What the sites of one group have in common, never 0. The same in every snapshot of an image. Not
 * by thread: a site may be of many. */
uint64_t groups_key(enum group_by by, const struct snap_site *site, bool show_hidden);

/* The same of the group that a thread is, by its id; and the thread. NULL: there is none. */
uint64_t groups_thread_key(uint32_t id);
const struct snap_thread *groups_thread(const struct snapshot *snap, uint32_t id);

#endif
