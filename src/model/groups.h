/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums up call sites by the line, function, file, module, type or thread that they have in common.
 * Code that sorts, formats and draws sites treats a group as a site; its `group` is set. Pure; main
 * thread.
 */
#ifndef SRC_MODEL_GROUPS_H
#define SRC_MODEL_GROUPS_H

#include "src/model/error_sum.h"
#include "src/model/filter.h"

enum group_by {
	GROUP_STACK, /* the call sites themselves */
	GROUP_CALLER,
	GROUP_FUNCTION,
	GROUP_FILE,
	GROUP_MODULE,
	GROUP_TYPE, /* needs snapshot.typed; sites without a type are in one group */
	GROUP_THREAD, /* needs snapshot.has_alive and shares; otherwise there are no rows */
	GROUP_COUNT
};

struct group_info {
	char letter; /* key that chooses it */
	const char *key; /* the name for --group */
	const char *choice; /* with the letter, for the chooser: "f function" */
	const char *title, *place; /* headers of COL_SITE and COL_LINE */
	const char *many; /* "functions" */
};
extern const struct group_info group_table[GROUP_COUNT];
/* The grouping that `key` names, or -1. */
int group_find(const char *key);

/* A request for groups. */
struct groups_request {
	enum group_by by;
	bool show_hidden; /* sites are named after their innermost frame */
	/*
	 * Terms on text select the sites to sum up, terms on numbers select the sums. May be NULL.
	 */
	const struct filter *filter;
	uint64_t inside; /* not 0: the sites of the group with this key instead of groups */
};

/* Empty is all zeros. */
struct groups {
	struct snapshot snap; /* its sites are the groups; no reference */
	/* Private to groups.c. */
	struct snap_site *site;
	struct snap_group *group;
	struct error_sum *errors; /* of each group */
	uint32_t *table; /* hash table by key: group number, from 1 */
	size_t capacity, mask;
};

/*
 * Makes g->snap from `snap`; valid as long as `snap`. A group has the id of its oldest site, so the
 * id is stable; a thread's has GROUPS_THREAD_ID and the slot, which no site has. 0 or -ENOMEM: then
 * it has no sites.
 */
#define GROUPS_THREAD_ID 0x80000000u
int groups_make(
	struct groups *g, const struct snapshot *snap, const struct groups_request *request);
void groups_free(struct groups *g);
/* The key that the sites of one group share, never 0. The same in every snapshot of an image. Not
 * by thread: a site may belong to several. */
uint64_t groups_key(enum group_by by, const struct snap_site *site, bool show_hidden);

/* The key of a thread's group, by the group's id; and the thread, or NULL. */
uint64_t groups_thread_key(uint32_t id);
const struct snap_thread *groups_thread(const struct snapshot *snap, uint32_t id);

#endif
