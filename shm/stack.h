/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree: a call stack becomes one number, its site. Insert-only and lock-free
 * (hash chains whose heads are swung by compare-and-swap); any thread. After Ammons, Ball and
 * Larus, "Exploiting hardware performance counters with flow and context sensitive profiling" (PLDI
 * 1997).
 */
#ifndef SHM_STACK_H
#define SHM_STACK_H

#include "shm/commit.h"

/*
 * Where the last stack of a thread led: its nodes, outermost first. Stacks that follow each other
 * mostly begin alike, and a node kept here is found without a search. Each is checked before it is
 * used.
 */
struct stack_path {
	uint32_t room; /* of nodes; set by the owner */
	uint32_t count; /* filled; 0 at first */
	uint32_t nodes[];
};

/* A call stack as the unwinder gave it, innermost frame first. */
struct stack_trace {
	uint32_t function; /* enum ht_function */
	uint32_t count;
	bool truncated; /* outer frames are missing */
	const uint64_t *pcs; /* return addresses */
	const uint32_t *modules; /* of each: index in the module table, and HT_NODE_UNPINNED */
	struct stack_path *path; /* of the calling thread, or NULL */
	uint32_t kept; /* that many outermost frames are those of the stack that `path` is of */
};

/* How large the tree will probably be, said before its first stack, of a segment that is nobody
 * else's yet: fewer hash chains take less memory, which is most of what a forked child costs. */
void stack_expect(const struct segment *s, uint32_t nodes);

/*
 * The site of a stack: the same stack always gives the same site. 0, the catch-all, when a table is
 * full; the header counts that.
 */
uint32_t stack_intern(const struct segment *s, const struct stack_trace *t);

enum stack_match {
	STACK_DIFFERS,
	STACK_SAME,
	/* Same addresses, but in code that may have been unloaded and replaced: modules must tell.
	 */
	STACK_SAME_ADDRESSES,
};
/*
 * Whether `site` is that of exactly this stack, by comparing every frame. With t->modules NULL the
 * answer may be STACK_SAME_ADDRESSES; ask again with the modules that are there now.
 */
enum stack_match stack_compare(const struct segment *s, uint32_t site, const struct stack_trace *t);

static inline struct ht_site *stack_site(const struct segment *s, uint32_t site)
{
	return segment_at(s, segment_element(s, HT_REGION_SITES, site, sizeof(struct ht_site)));
}

static inline struct ht_node *stack_node(const struct segment *s, uint32_t node)
{
	return segment_at(s, segment_element(s, HT_REGION_NODES, node, sizeof(struct ht_node)));
}

#endif
