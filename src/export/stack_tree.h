/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile's stacks as a tree: stacks that begin alike share nodes, and each node has the weight
 * of all stacks through it. Pure; main thread.
 */
#ifndef SRC_EXPORT_STACK_TREE_H
#define SRC_EXPORT_STACK_TREE_H

#include "src/export/profile.h"

#define STACK_TREE_ROOT 0u

struct stack_node {
	uint32_t frame; /* the profile's number; undefined for the root */
	uint32_t parent; /* always a smaller number; the root is its own */
	uint32_t child, next; /* first child, next sibling; 0: none */
	uint64_t self, total; /* weight of the stacks that end here, and of all through here */
};

struct stack_tree {
	struct stack_node *node; /* [STACK_TREE_ROOT] is the root */
	uint32_t count; /* 0: out of memory */
	/* Private to stack_tree.c. */
	size_t capacity;
	struct numbering edges;
};

/* An empty tree is all zeros. */
void stack_tree_free(struct stack_tree *t);
/* An empty tree with its root. False: no memory. */
bool stack_tree_begin(struct stack_tree *t);
/* Adds a stack, its frames in this order from the root on; the node where it ends. 0: no memory.
 * Totals and the order of siblings are not kept up. */
uint32_t stack_tree_add(struct stack_tree *t, const uint32_t *frames, uint32_t n, uint64_t weight);
/*
 * Adds all sites of the profile that have a weight above 0. `inverted`: the root's children are the
 * innermost frames. Totals are summed up, and siblings are sorted, the heaviest first. 0, or
 * -ENOMEM: then it is empty.
 */
int stack_tree_make(struct stack_tree *t, struct profile *p, enum snap_value value, bool inverted);
/* The next node of a walk that visits a node before its children, and all children before the next
 * sibling; 0: that was the last. `skip_children`: go on behind them. */
uint32_t stack_tree_after(const struct stack_tree *t, uint32_t node, bool skip_children);

#endif
