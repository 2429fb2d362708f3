/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths through the graph (pointer_path.h), by breadth-first search. */
#include "src/leak/analysis/pointer_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/classes.h"

struct search {
	const struct leak_graph *g;
	uint32_t *parent;
	uint32_t *queue; /* each block is in it at most once */
	uint32_t head, tail;
};

static void visit(struct search *s, uint32_t from, uint32_t block)
{
	if (s->parent[block] != LEAK_NONE)
		return;
	s->parent[block] = from;
	s->queue[s->tail++] = block;
}

/* Visits blocks of `class` that `from` points to; `sure`: not by interior pointers. */
static void follow(struct search *s, uint32_t from, enum leak_class class, bool sure)
{
	const struct leak_graph *g = s->g;

	for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++) {
		uint32_t to = g->edge[e] >> LEAK_TO_BITS;
		unsigned how = g->edge[e] & LEAK_TO_MASK;

		if (g->class[to] == class && !(sure && how == LEAK_TO_INTERIOR))
			visit(s, from, to);
	}
}

static void search(struct search *s, enum leak_class class, bool sure)
{
	while (s->head < s->tail)
		follow(s, s->queue[s->head++], class, sure);
}

/* Whether a path may begin with the block. */
static bool is_path_start(const struct leak_graph *g, uint32_t i, enum leak_class class)
{
	if (class == LEAK_INDIRECT)
		return g->class[i] == LEAK_DEFINITE;
	return g->class[i] == class && g->root[i] != 0 &&
	       (class == LEAK_POSSIBLE || g->root[i] != LEAK_TO_INTERIOR + 1);
}

static void search_class(struct search *s, enum leak_class class)
{
	const struct leak_graph *g = s->g;

	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (is_path_start(g, i, class))
			visit(s, i, i);
	/* A possible block may be reached from a reachable one. */
	for (uint32_t i = 0; class == LEAK_POSSIBLE && i < g->blocks->count; i++)
		if (g->class[i] == LEAK_REACHABLE)
			follow(s, i, class, false);
	search(s, class, class == LEAK_REACHABLE);
}

int leak_pointer_path_make(struct leak_pointer_path *t, const struct leak_graph *g)
{
	size_t n = (size_t)g->blocks->count + 1; /* never nothing */
	struct search s = { .g = g, .queue = malloc(n * sizeof(*s.queue)) };

	t->parent = malloc(n * sizeof(*t->parent));
	t->holders = calloc(n, sizeof(*t->holders));
	if (!s.queue || !t->parent || !t->holders) {
		free(s.queue);
		leak_pointer_path_free(t);
		return -ENOMEM;
	}
	s.parent = t->parent;
	memset(t->parent, 0xff, n * sizeof(*t->parent));
	search_class(&s, LEAK_REACHABLE);
	search_class(&s, LEAK_POSSIBLE);
	search_class(&s, LEAK_INDIRECT);
	for (uint64_t e = 0; e < g->edges; e++)
		t->holders[g->edge[e] >> LEAK_TO_BITS]++;
	free(s.queue);
	return 0;
}

void leak_pointer_path_free(struct leak_pointer_path *t)
{
	free(t->parent);
	free(t->holders);
	*t = (struct leak_pointer_path){ 0 };
}
