/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks as a tree (stack_tree.h). A numbering of (parent, frame) finds the child. */
#include "src/export/stack_tree.h"

#include <errno.h>
#include <stdlib.h>
#include "src/util/array.h"

void stack_tree_free(struct stack_tree *t)
{
	free(t->node);
	numbering_free(&t->edges);
	*t = (struct stack_tree){ 0 };
}

static bool node_append(struct stack_tree *t, uint32_t parent, uint32_t frame)
{
	struct stack_node *node = array_grow(t->node, t->count, &t->capacity, sizeof(*t->node));

	if (!node)
		return false;
	t->node = node;
	node[t->count++] = (struct stack_node){ .parent = parent, .frame = frame };
	return true;
}

/* The node of `frame` below `parent`. Edge i leads to node i + 1. 0: out of memory. */
static uint32_t child_of(struct stack_tree *t, uint32_t parent, uint32_t frame)
{
	const uint32_t edge[2] = { parent, frame };
	bool is_new;
	uint32_t n = numbering_add(&t->edges, edge, sizeof(edge), &is_new);

	if (t->edges.failed || (is_new && !node_append(t, parent, frame)))
		return 0;
	return n + 1;
}

bool stack_tree_begin(struct stack_tree *t)
{
	*t = (struct stack_tree){ 0 };
	return node_append(t, STACK_TREE_ROOT, 0);
}

uint32_t stack_tree_add(struct stack_tree *t, const uint32_t *frames, uint32_t n, uint64_t weight)
{
	uint32_t node = STACK_TREE_ROOT;

	for (uint32_t i = 0; i < n; i++) {
		node = child_of(t, node, frames[i]);
		if (!node)
			return 0;
	}
	t->node[node].self += weight;
	return node;
}

static void reverse(uint32_t *path, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t frame = path[i];

		path[i] = path[n - 1 - i];
		path[n - 1 - i] = frame;
	}
}

static bool process_add(struct stack_tree *t, struct profile *p, size_t process,
	enum snap_value value, bool inverted)
{
	const struct snapshot *s = p->processes[process];

	for (size_t i = 0; i < s->nsites; i++) {
		int64_t weight = profile_weight(s, &s->sites[i], value);
		uint32_t len, *path;

		if (weight <= 0)
			continue;
		path = profile_path(p, process, &s->sites[i], &len);
		if (inverted)
			reverse(path, len);
		if (p->failed || !stack_tree_add(t, path, len, (uint64_t)weight))
			return false;
	}
	return true;
}

/* Parents have smaller numbers, so that one pass from the end sums up. */
static void sum_up(struct stack_tree *t)
{
	for (uint32_t i = t->count; i-- > 0;) {
		t->node[i].total += t->node[i].self;
		if (i)
			t->node[t->node[i].parent].total += t->node[i].total;
	}
}

static const struct stack_node *sorted_nodes; /* for by_total */

static int by_total(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = sorted_nodes[i].total, y = sorted_nodes[j].total;

	return x != y ? (x < y ? -1 : 1) : i < j ? 1 : -1;
}

/* Links the nodes from the lightest to the heaviest, each in front of its siblings. */
static bool link_siblings(struct stack_tree *t)
{
	uint32_t *order = malloc(t->count * sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < t->count; i++)
		order[i] = i;
	sorted_nodes = t->node;
	qsort(order, t->count, sizeof(*order), by_total);
	for (uint32_t i = 0; i < t->count; i++) {
		struct stack_node *n = &t->node[order[i]];

		if (order[i] == STACK_TREE_ROOT)
			continue;
		n->next = t->node[n->parent].child;
		t->node[n->parent].child = order[i];
	}
	free(order);
	return true;
}

int stack_tree_make(struct stack_tree *t, struct profile *p, enum snap_value value, bool inverted)
{
	bool ok = stack_tree_begin(t);

	for (size_t i = 0; ok && i < p->nprocesses; i++)
		ok = process_add(t, p, i, value, inverted);
	if (ok) {
		sum_up(t);
		ok = link_siblings(t);
	}
	if (!ok)
		stack_tree_free(t);
	return ok ? 0 : -ENOMEM;
}

uint32_t stack_tree_after(const struct stack_tree *t, uint32_t node, bool skip_children)
{
	if (!skip_children && t->node[node].child)
		return t->node[node].child;
	while (node != STACK_TREE_ROOT && !t->node[node].next)
		node = t->node[node].parent;
	return t->node[node].next;
}
