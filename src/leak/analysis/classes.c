/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The classes of blocks (classes.h). */
#include "src/leak/analysis/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"

#define UNREACHED LEAK_CLASSES /* not classified yet */

static void *zeros(size_t count, size_t each)
{
	return array_large(calloc(count, each), count * each);
}

struct reached {
	uint32_t block;
	uint8_t to; /* the pointer: LEAK_TO_* */
};

/* Blocks whose edges are still to be followed, each once at most. */
struct todo {
	uint32_t *block;
	size_t count;
	uint8_t *in; /* per block: it is in the list */
	struct reached *later; /* reached from reachable blocks by interior pointers that no enabled
				  rule explains yet */
	size_t laters;
};

static void todo_push(struct todo *t, uint32_t block)
{
	if (t->in[block])
		return;
	t->in[block] = 1;
	t->block[t->count++] = block;
}

static uint32_t todo_pop(struct todo *t)
{
	uint32_t block = t->block[--t->count];

	t->in[block] = 0;
	return block;
}

/* Whether a pointer counts as one to the start by one of `rules`. */
static bool is_start_like(unsigned to, unsigned rules)
{
	return to == LEAK_TO_START || rules >> (to - LEAK_TO_INTERIOR) & 1;
}

/* A root, or a reachable block whose g->heuristic is `before`, points to a block by a pointer that
 * is_start_like. */
static void reach(struct leak_graph *g, struct todo *t, uint32_t block, unsigned to, uint8_t before)
{
	if (g->class[block] == LEAK_REACHABLE)
		return;
	g->class[block] = LEAK_REACHABLE;
	if (to != LEAK_TO_START)
		g->heuristic[block] = (uint8_t)(to - LEAK_TO_INTERIOR);
	else
		g->heuristic[block] = before ? before | LEAK_INDIRECTLY : LEAK_BY_NONE;
	todo_push(t, block);
}

static void edges_follow(struct leak_graph *g, struct todo *t, uint32_t from, unsigned rules)
{
	for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++) {
		uint32_t block = g->edge[e] >> LEAK_TO_BITS;
		unsigned to = g->edge[e] & LEAK_TO_MASK;

		if (is_start_like(to, rules))
			reach(g, t, block, to, g->heuristic[from]);
		else
			t->later[t->laters++] = (struct reached){ block, (uint8_t)to };
	}
}

/* Reaches all blocks that roots lead to by pointers to starts, or by interior pointers that `rules`
 * explain. */
static void reach_by(struct leak_graph *g, struct todo *t, unsigned rules)
{
	size_t left = 0;

	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (g->root[i] != 0 && is_start_like(g->root[i] - 1u, rules))
			reach(g, t, i, g->root[i] - 1u, LEAK_BY_NONE);
	for (size_t i = 0; i < t->laters; i++) {
		const struct reached *l = &t->later[i];

		if (is_start_like(l->to, rules))
			reach(g, t, l->block, l->to, LEAK_BY_NONE);
		else
			t->later[left++] = *l;
	}
	t->laters = left;
	while (t->count > 0)
		edges_follow(g, t, todo_pop(t), rules);
}

static void maybe_reach(struct leak_graph *g, struct todo *t, uint32_t block)
{
	if (g->class[block] != UNREACHED)
		return;
	g->class[block] = LEAK_POSSIBLE;
	todo_push(t, block);
}

/* Reaches the remaining blocks by any pointers: they are possible. */
static void reach_possibly(struct leak_graph *g, struct todo *t)
{
	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (g->root[i] != 0)
			maybe_reach(g, t, i);
	for (size_t i = 0; i < t->laters; i++)
		maybe_reach(g, t, t->later[i].block);
	while (t->count > 0) {
		uint32_t from = todo_pop(t);

		for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++)
			maybe_reach(g, t, g->edge[e] >> LEAK_TO_BITS);
	}
}

/* A block that is reachable without a rule is not counted for one, and one that is by memcheck's
 * rules is not counted for ours. */
static void reach_all(struct leak_graph *g, struct todo *t)
{
	reach_by(g, t, 0);
	reach_by(g, t, LEAK_BY_MEMCHECK);
	reach_by(g, t, ~1u);
	reach_possibly(g, t);
}

/* Makes all blocks that an unreached one leads to its clique, with the members of any clique that
 * one of them led before. */
static void clique_take(struct leak_graph *g, struct todo *t, uint32_t leader)
{
	todo_push(t, leader);
	while (t->count > 0) {
		uint32_t from = todo_pop(t);

		for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++) {
			uint32_t to = g->edge[e] >> LEAK_TO_BITS;

			if (to == leader || g->class[to] != UNREACHED)
				continue;
			g->class[to] = LEAK_INDIRECT;
			g->leader[to] = leader;
			todo_push(t, to);
		}
	}
}

/*
 * The members of a clique that another one absorbed still have its leader. The absorbing leader
 * came later, so it has a higher address: going down, each leader's own leader is final before it
 * is read.
 */
static void leaders_settle(struct leak_graph *g)
{
	uint32_t n = g->blocks->count;

	for (uint32_t i = n; i-- > 0;)
		if (g->class[i] == LEAK_INDIRECT && g->leader[i] > i &&
			g->class[g->leader[i]] == LEAK_INDIRECT)
			g->leader[i] = g->leader[g->leader[i]];
	for (uint32_t i = 0; i < n; i++)
		if (g->class[i] == LEAK_INDIRECT && g->leader[i] < i &&
			g->class[g->leader[i]] == LEAK_INDIRECT)
			g->leader[i] = g->leader[g->leader[i]];
}

static void cliques_make(struct leak_graph *g, struct todo *t)
{
	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (g->class[i] == UNREACHED)
			clique_take(g, t, i);
	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (g->class[i] == UNREACHED)
			g->class[i] = LEAK_DEFINITE;
	leaders_settle(g);
}

int leak_classes_assign(struct leak_graph *g)
{
	uint32_t n = g->blocks->count;
	struct todo t = { .block = zeros(n + (size_t)1, sizeof(*t.block)),
		.in = zeros(n + (size_t)1, 1),
		.later = malloc((g->interiors + 1) * sizeof(*t.later)) };
	bool ok = t.block && t.in && t.later && !g->failed;

	if (ok) {
		memset(g->class, UNREACHED, n);
		reach_all(g, &t);
		cliques_make(g, &t);
	}
	free(t.block);
	free(t.in);
	free(t.later);
	return ok ? 0 : -ENOMEM;
}
