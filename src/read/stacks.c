/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads call stacks from a segment. Nodes never change once published, so they are copied in bulk
 * and cached; a node that was copied before it was written (its pc, written last, is 0) is read
 * again. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/read/segment.h"

#define NODES_STEP  16384u /* 384 KB per read */
#define NODES_AGAIN 128u /* around one that was not written yet: some ten new stacks */

/* Copies nodes until `node` is among them. The table's use bounds what a malformed number costs. */
static int nodes_load(struct read_segment *s, uint32_t node)
{
	uint64_t capacity = read_capacity(s, HT_REGION_NODES, sizeof(*s->nodes));
	uint64_t want = (node / NODES_STEP + 1ull) * NODES_STEP;
	struct ht_node *grown;
	uint32_t used;
	int rc = read_used(s, offsetof(struct ht_header, nodes), HT_REGION_NODES,
		sizeof(struct ht_node), &used);

	if (rc != 0)
		return rc;
	if (node >= used)
		return -EINVAL;
	if (want > capacity)
		want = capacity;
	grown = realloc(s->nodes, want * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->nodes = grown;
	rc = read_elements(s, HT_REGION_NODES, s->node_count, want - s->node_count, sizeof(*grown),
		grown + s->node_count);
	if (rc == 0)
		s->node_count = (uint32_t)want;
	return rc;
}

/* Reads a node again, with those around it: stacks are made one after the other. */
static int nodes_reload(struct read_segment *s, uint32_t node)
{
	uint32_t first = node / NODES_AGAIN * NODES_AGAIN, left = s->node_count - first;

	return read_elements(s, HT_REGION_NODES, first, left < NODES_AGAIN ? left : NODES_AGAIN,
		sizeof(*s->nodes), &s->nodes[first]);
}

static int node_get(struct read_segment *s, uint32_t node, struct ht_node *out)
{
	int rc = 0;

	if (node >= s->node_count)
		rc = nodes_load(s, node);
	if (rc == 0 && s->nodes[node].pc == 0)
		rc = nodes_reload(s, node);
	if (rc == 0)
		*out = s->nodes[node];
	return rc == 0 && out->pc == 0 ? -EINVAL : rc;
}

/* The module of a frame; 0 if its number is not in the table. */
static uint32_t module_of(const struct read_segment *s, const struct ht_node *n)
{
	uint32_t module = n->module & ~HT_NODE_UNPINNED;

	return module < read_capacity(s, HT_REGION_MODULES, sizeof(struct ht_module)) ? module : 0;
}

int read_site_node(struct read_segment *s, uint32_t site, uint32_t *node, uint32_t *flags)
{
	struct ht_site found;
	int rc = read_elements(s, HT_REGION_SITES, site, 1, sizeof(found), &found);

	if (rc == 0) {
		*node = found.node;
		*flags = found.flags;
	}
	return rc;
}

ssize_t read_stack(struct read_segment *s, uint32_t node, struct read_frame *out, size_t max,
	uint32_t *function)
{
	struct ht_node n;
	size_t count = 0;
	int rc;

	if (node == 0)
		return -EINVAL;
	rc = node_get(s, node, &n);
	if (rc != 0)
		return rc;
	*function = n.pc < HT_LEAF_END ? (uint32_t)n.pc & HT_LEAF_FUNCTION : HT_FN_NONE;
	if (n.pc >= HT_LEAF_END && count < max)
		out[count++] = (struct read_frame){ n.pc, module_of(s, &n) };
	while (n.parent != 0 && count < max) {
		rc = node_get(s, n.parent, &n);
		if (rc != 0)
			return rc;
		out[count++] = (struct read_frame){ n.pc, module_of(s, &n) };
	}
	/* No order of the numbers shows that a chain ends: a node's parent may have a higher one,
	 * of a row that another thread took later but put in first. */
	return n.parent != 0 && count >= HT_DEPTH_MAX ? -EINVAL : (ssize_t)count;
}
