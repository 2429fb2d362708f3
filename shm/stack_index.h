/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of the calling-context tree: finds the children of a node that are not among its first
 * ones (shm/layout.h describes its levels). Insert-only and lock-free; any thread, inside hooks.
 */
#ifndef SHM_STACK_INDEX_H
#define SHM_STACK_INDEX_H

#include "shm/commit.h"

/* A node's frame. */
struct stack_frame {
	uint64_t pc;
	uint32_t module;
};

static inline struct ht_node *stack_index_node(const struct segment *s, uint32_t node)
{
	return segment_at(s, segment_element(s, HT_REGION_NODES, node, sizeof(struct ht_node)));
}

static inline bool stack_index_is(
	const struct segment *s, uint32_t node, uint32_t parent, const struct stack_frame *f)
{
	const struct ht_node *n = stack_index_node(s, node);

	return n->pc == f->pc && n->parent == parent && n->module == f->module;
}

/* The upper bits of a word that holds a node with this hash. Never 0. */
static inline uint32_t stack_index_tag(uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32) & ~HT_INDEX_NODE;

	return tag ? tag : HT_INDEX_NODE + 1;
}

/* The node that is the child of `parent` with this frame, by its hash. 0: it is not in the index,
 * or was put in meanwhile. */
uint32_t stack_index_find(
	const struct segment *s, uint64_t hash, uint32_t parent, const struct stack_frame *f);
/* Takes memory for one more node with this hash. False: there is no room, or no memory. */
bool stack_index_room(const struct segment *s, uint64_t hash);
/* Puts a node in, unless one with the same parent and frame is there: then returns that. 0: there
 * is no room, or no memory. */
uint32_t stack_index_put(const struct segment *s, uint64_t hash, uint32_t fresh);

#endif
