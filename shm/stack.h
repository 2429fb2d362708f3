/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calling-context tree: a call stack becomes one number, its site. Insert-only and lock-free (a
 * hash whose slots are filled by compare-and-swap); any thread. After Ammons, Ball and Larus,
 * "Exploiting hardware performance counters with flow and context sensitive profiling" (PLDI 1997).
 */
#ifndef SHM_STACK_H
#define SHM_STACK_H

#include "shm/commit.h"

/* The path of a thread's last stack in the tree: its nodes, outermost first. Successive stacks
 * mostly begin alike, and a node kept here is found without a search. Each is checked before it is
 * used. */
struct stack_step {
	uint64_t hash; /* of all frames out from this one */
	uint32_t node;
};
struct stack_path {
	uint32_t room; /* of steps; set by the owner */
	uint32_t count; /* filled; 0 at first */
	uint32_t leaf; /* of that stack; 0: none */
	bool guessed; /* it was the one that had followed the last time, too */
	struct stack_step steps[];
};

/* A call stack as the unwinder returned it, innermost frame first. */
struct stack_trace {
	uint32_t function; /* enum ht_function */
	uint32_t count;
	bool truncated; /* outer frames are missing */
	const uint64_t *pcs; /* return addresses */
	const uint32_t *modules; /* of each: index in the module table, and HT_NODE_UNPINNED */
	struct stack_path *path; /* of the calling thread, or NULL */
	uint32_t kept; /* the number of outermost frames shared with the stack of `path` */
};

/* The site of a stack: the same stack always has the same site. When a table is full, the site of
 * an ancestor (stack_ancestor.h); the header counts that. 0, the catch-all, without any memory. */
uint32_t stack_intern(const struct segment *s, const struct stack_trace *t);

enum stack_match {
	STACK_DIFFERS,
	STACK_SAME,
	/* Same addresses, but in code that may have been unloaded and replaced: the modules must
	 * decide. */
	STACK_SAME_ADDRESSES,
};
/* Whether `site` is that of exactly this stack, by comparing every frame. With t->modules NULL the
 * result may be STACK_SAME_ADDRESSES; call again with the present modules. */
enum stack_match stack_compare(const struct segment *s, uint32_t site, const struct stack_trace *t);

/* The site that the stack after that of `path` probably has, as long as such guesses have held; 0:
 * none. Its nodes are fetched. Call it before the stack is unwound. */
static inline uint32_t stack_expect(const struct segment *s, const struct stack_path *path);

static inline struct ht_site *stack_site(const struct segment *s, uint32_t site)
{
	return segment_at(s, segment_element(s, HT_REGION_SITES, site, sizeof(struct ht_site)));
}

static inline struct ht_node *stack_node(const struct segment *s, uint32_t node)
{
	return segment_at(s, segment_element(s, HT_REGION_NODES, node, sizeof(struct ht_node)));
}

static inline uint32_t stack_expect(const struct segment *s, const struct stack_path *path)
{
	const struct ht_node *n;

	if (!path->guessed)
		return 0;
	/* The edge NODE was passed when it was last compared, or is when it will be. */
	n = stack_node(s, ht_load_acquire_32(&stack_node(s, path->leaf)->child[0])); /* NODE */
	__builtin_prefetch(n - 1); /* a row's last frame is before its leaf */
	return ht_load_relaxed_32(&n->site);
}

#endif
