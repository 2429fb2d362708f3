/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of lost blocks (lost_graph.h). */
#include "src/leak/analysis/lost_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "src/leak/analysis/classes.h"

static bool is_lost(const struct leak_graph *g, uint32_t block)
{
	return g->class[block] != LEAK_REACHABLE;
}

/* Numbers the lost blocks. Returns how many; *edges: edges between them. */
static uint32_t count_all(const struct leak_graph *g, uint32_t *of, uint64_t *edges)
{
	uint32_t n = 0;

	*edges = 0;
	for (uint32_t i = 0; i < g->blocks->count; i++)
		of[i] = is_lost(g, i) ? n++ : LEAK_NONE;
	for (uint32_t i = 0; i < g->blocks->count; i++)
		for (uint64_t e = g->first[i]; is_lost(g, i) && e < g->first[i + 1]; e++)
			*edges += of[g->edge[e] >> LEAK_TO_BITS] != LEAK_NONE;
	return n;
}

static bool arrays_allocate(struct leak_lost_graph *l, uint32_t count, uint64_t edges)
{
	l->row = malloc(count * sizeof(*l->row));
	l->leader = malloc(count * sizeof(*l->leader));
	l->size = malloc(count * sizeof(*l->size));
	l->first = malloc((count + (size_t)1) * sizeof(*l->first));
	l->edge = malloc((edges + 1) * sizeof(*l->edge));
	return l->row && l->leader && l->size && l->first && l->edge;
}

static void block_add(
	struct leak_lost_graph *l, const struct leak_graph *g, uint32_t i, const uint32_t *of)
{
	uint64_t edges = l->first[l->count];

	l->leader[l->count] = g->class[i] == LEAK_INDIRECT ? of[g->leader[i]] : LEAK_NONE;
	l->size[l->count++] = g->blocks->block[i].size;
	for (uint64_t e = g->first[i]; e < g->first[i + 1]; e++)
		if (of[g->edge[e] >> LEAK_TO_BITS] != LEAK_NONE)
			l->edge[edges++] = of[g->edge[e] >> LEAK_TO_BITS];
	l->first[l->count] = edges;
}

int leak_lost_graph_make(struct leak_lost_graph *l, const struct leak_graph *g,
	uint32_t (*row)(void *ctx, uint32_t block), void *ctx, uint32_t *number)
{
	uint64_t edges;
	uint32_t count = count_all(g, number, &edges);

	*l = (struct leak_lost_graph){ 0 };
	if (count == 0)
		return 0;
	if (!arrays_allocate(l, count, edges)) {
		leak_lost_graph_free(l);
		return -ENOMEM;
	}
	l->first[0] = 0;
	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (is_lost(g, i)) {
			l->row[l->count] = row(ctx, i);
			block_add(l, g, i, number);
		}
	return 0;
}

void leak_lost_graph_free(struct leak_lost_graph *l)
{
	free(l->row);
	free(l->leader);
	free(l->size);
	free(l->first);
	free(l->edge);
	*l = (struct leak_lost_graph){ 0 };
}

int leak_lost_graph_reach(const struct leak_lost_graph *l, bool *marked)
{
	uint32_t *todo = malloc((l->count + (size_t)1) * sizeof(*todo));
	size_t n = 0;

	if (!todo)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->count; i++)
		if (marked[i])
			todo[n++] = i;
	while (n > 0) {
		uint32_t from = todo[--n];

		for (uint64_t e = l->first[from]; e < l->first[from + 1]; e++)
			if (!marked[l->edge[e]]) {
				marked[l->edge[e]] = true;
				todo[n++] = l->edge[e];
			}
	}
	free(todo);
	return 0;
}
