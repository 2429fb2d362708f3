/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks for which the tree has no room. They are counted at an ancestor: one of their frames
 * that is a node of the tree, with one site for all such stacks through it. So no byte or block
 * is lost, only the inner frames are. The last sites, and the last memory that could be committed,
 * are for ancestors. Each node records its choice, once and for all: so threads agree, and a stack
 * that recurs costs one load. Any thread, inside hooks; lock-free.
 */
#ifndef SHM_STACK_ANCESTOR_H
#define SHM_STACK_ANCESTOR_H

#include "shm/commit.h"

/* The last 1/16 of the sites is for ancestors. */
#define STACK_ANCESTOR_PART 16u

/* The number of sites that stacks of their own may take. */
static inline uint64_t stack_ancestor_limit(const struct segment *s)
{
	uint64_t room = segment_capacity(s, HT_REGION_SITES, sizeof(struct ht_site));

	return room - room / STACK_ANCESTOR_PART;
}

/* Whether another stack may have a site of its own. If not, its nodes would be useless. */
bool stack_ancestor_spares(const struct segment *s);

/* The site for stacks that end beyond `node`, their innermost node in the tree (0, the root: none
 * of it is); `truncated`: they are missing outer frames, too. It is a site with HT_SITE_ANCESTOR,
 * of `node` or of the nearest node further out that has one or may take one. 0: there is no memory.
 */
uint32_t stack_ancestor_site(const struct segment *s, uint32_t node, bool truncated);

#endif
