/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who points to whom (graph.h). */
#include "src/leak/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/heuristics.h"

#define ROOT_EDGE     UINT64_MAX
#define QUESTIONS_MAX 256u /* asked for together: three words each, within one call's 1,024 */

const char *leak_class_name(enum leak_class class)
{
	static const char *const names[] = { "definite", "indirect", "possible", "reachable" };

	return class < LEAK_CLASSES ? names[class] : "?";
}

const char *leak_heuristic_name(enum leak_heuristic heuristic)
{
	static const char *const names[] = { "", "stdstring", "length64", "newarray",
		"multipleinheritance", "header", "sds" };

	return heuristic < LEAK_HEURISTICS ? names[heuristic] : "?";
}

int leak_graph_start(struct leak_graph *g, struct leak_blocks *blocks)
{
	size_t n = (size_t)blocks->count + 1; /* never nothing */

	*g = (struct leak_graph){ .blocks = blocks, .heuristics = ~0u };
	g->root = calloc(n, 1);
	g->root_at = calloc(n, sizeof(*g->root_at));
	g->class = calloc(n, 1);
	g->heuristic = calloc(n, 1);
	g->leader = calloc(n, sizeof(*g->leader));
	g->first = calloc(n, sizeof(*g->first));
	if (g->root && g->root_at && g->class && g->heuristic && g->leader && g->first)
		return 0;
	leak_graph_free(g);
	return -ENOMEM;
}

void leak_graph_free(struct leak_graph *g)
{
	free(g->root);
	free(g->root_at);
	free(g->class);
	free(g->heuristic);
	free(g->leader);
	free(g->first);
	free(g->edge);
	free(g->inside);
	*g = (struct leak_graph){ 0 };
}

/* ---- words ---- */

/* glibc: the chunk after a block's, which begins 16 bytes before its own block. */
static uint64_t next_chunk(const struct leak_block *b)
{
	uint64_t chunk = (b->size + 8 + 15) & ~UINT64_C(15);

	return b->addr - 16 + (chunk < 32 ? 32 : chunk);
}

/* Notes a pointer inside a block, which may turn out to be as good as one to its start. */
static void inside_note(struct leak_graph *g, uint64_t pointer, uint64_t edge)
{
	if (g->insides == g->inside_room) {
		size_t room = g->inside_room ? g->inside_room * 2 : 1024;
		void *p = realloc(g->inside, room * sizeof(*g->inside));

		if (!p) {
			g->failed = true;
			return;
		}
		g->inside = p;
		g->inside_room = room;
	}
	g->inside[g->insides++] = (struct leak_inside){ pointer, edge };
}

static void root_word(struct leak_graph *g, uint64_t at, uint64_t word, bool bins)
{
	uint32_t i = leak_blocks_find(g->blocks, word);
	const struct leak_block *b;

	if (i == LEAK_NONE || g->root[i] == LEAK_TO_START + 1)
		return;
	b = &g->blocks->block[i];
	if (word != b->addr && bins && word == next_chunk(b))
		return;
	if (word == b->addr || g->root[i] == 0)
		g->root_at[i] = at;
	g->root[i] = word == b->addr ? LEAK_TO_START + 1 : LEAK_TO_INSIDE + 1;
	if (word != b->addr)
		inside_note(g, word, ROOT_EDGE);
}

void leak_graph_root(
	struct leak_graph *g, uint64_t at, const uint64_t *words, size_t count, bool bins)
{
	uint64_t lowest = g->blocks->lowest, span = g->blocks->span;

	for (size_t i = 0; i < count; i++)
		if (words[i] - lowest < span)
			root_word(g, at + i * sizeof(*words), words[i], bins);
}

void leak_graph_root_block(struct leak_graph *g, uint32_t block)
{
	g->root[block] = LEAK_TO_START + 1;
}

/* Blocks before `block` that were not scanned have no edges. */
static void blocks_pass(struct leak_graph *g, uint32_t block)
{
	while (g->scanned < block)
		g->first[++g->scanned] = g->edges;
}

static bool edge_room(struct leak_graph *g)
{
	uint64_t room = g->edge_room ? g->edge_room * 2 : 65536;
	void *p;

	if (g->edges < g->edge_room)
		return true;
	p = realloc(g->edge, room * sizeof(*g->edge));
	if (!p) {
		g->failed = true;
		return false;
	}
	g->edge = p;
	g->edge_room = room;
	return true;
}

static void block_word(struct leak_graph *g, uint32_t block, uint64_t word)
{
	uint32_t to = leak_blocks_find(g->blocks, word);
	bool starts;

	if (to == LEAK_NONE || to == block || !edge_room(g))
		return;
	starts = word == g->blocks->block[to].addr;
	if (!starts)
		inside_note(g, word, g->edges);
	g->edge[g->edges++] = to << LEAK_TO_BITS | (starts ? LEAK_TO_START : LEAK_TO_INSIDE);
}

void leak_graph_scan(struct leak_graph *g, uint32_t block, const uint64_t *words, size_t count)
{
	uint64_t lowest = g->blocks->lowest, span = g->blocks->span;

	blocks_pass(g, block);
	for (size_t i = 0; i < count; i++)
		if (words[i] - lowest < span)
			block_word(g, block, words[i]);
}

/* ---- heuristics ---- */

/* What became of a pointer inside. */
static void inside_settle(struct leak_graph *g, const struct leak_inside *in, uint32_t block,
	enum leak_heuristic found)
{
	if (found == LEAK_BY_NONE || !(g->heuristics >> found & 1))
		return;
	if (in->edge != ROOT_EDGE)
		g->edge[in->edge] += found;
	else if (g->root[block] != LEAK_TO_START + 1)
		g->root[block] = (uint8_t)(LEAK_TO_INSIDE + 1 + found);
}

/* Whether the answer could change anything. */
static bool is_open(const struct leak_graph *g, const struct leak_inside *in, uint32_t block)
{
	return in->edge != ROOT_EDGE || g->root[block] == LEAK_TO_INSIDE + 1;
}

static void questions_ask(struct leak_graph *g, const struct leak_memory *m,
	struct leak_question *q, const struct leak_inside *const *in, size_t count)
{
	struct leak_word words[QUESTIONS_MAX * 3];

	for (size_t i = 0; i < count; i++) {
		words[3 * i] = q[i].first;
		words[3 * i + 1] = q[i].second;
		words[3 * i + 2] = q[i].at;
	}
	m->read(m->ctx, words, 3 * count);
	for (size_t i = 0; i < count; i++) {
		q[i].first = words[3 * i];
		q[i].second = words[3 * i + 1];
		q[i].at = words[3 * i + 2];
		inside_settle(g, in[i], (uint32_t)(q[i].block - g->blocks->block),
			leak_heuristics_judge(&q[i], m));
	}
}

void leak_graph_explain(struct leak_graph *g, const struct leak_memory *m)
{
	struct leak_question q[QUESTIONS_MAX];
	const struct leak_inside *in[QUESTIONS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < g->insides; i++) {
		uint32_t block = leak_blocks_find(g->blocks, g->inside[i].pointer);

		in[n] = &g->inside[i];
		q[n] = (struct leak_question){ .block = &g->blocks->block[block],
			.pointer = g->inside[i].pointer };
		if (!is_open(g, in[n], block) || !leak_heuristics_want(&q[n]))
			continue;
		if (++n == QUESTIONS_MAX) {
			questions_ask(g, m, q, in, n);
			n = 0;
		}
	}
	questions_ask(g, m, q, in, n);
}

/* ---- classes ---- */

#define UNREACHED LEAK_CLASSES

/* Blocks whose edges are still to be followed; each is in it once at most. */
struct todo {
	uint32_t *block;
	size_t count;
	uint8_t *in; /* by block */
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

/* A block is pointed to; `to`: how, `sure`: from a root by such pointers alone. */
static void reach(struct leak_graph *g, struct todo *t, uint32_t block, unsigned to, bool sure)
{
	if (g->class[block] == LEAK_REACHABLE) {
		if (to == LEAK_TO_START && sure)
			g->heuristic[block] = LEAK_BY_NONE;
		return;
	}
	if (to != LEAK_TO_INSIDE && sure) {
		g->class[block] = LEAK_REACHABLE;
		g->heuristic[block] =
			to == LEAK_TO_START ? LEAK_BY_NONE : (uint8_t)(to - LEAK_TO_INSIDE);
		todo_push(t, block);
	} else if (g->class[block] == UNREACHED) {
		g->class[block] = LEAK_POSSIBLE;
		todo_push(t, block);
	}
}

static void reach_all(struct leak_graph *g, struct todo *t)
{
	for (uint32_t i = 0; i < g->blocks->count; i++)
		if (g->root[i])
			reach(g, t, i, g->root[i] - 1u, true);
	while (t->count > 0) {
		uint32_t from = todo_pop(t);
		bool sure = g->class[from] == LEAK_REACHABLE;

		for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++)
			reach(g, t, g->edge[e] >> LEAK_TO_BITS,
				g->edge[e] & ((1u << LEAK_TO_BITS) - 1), sure);
	}
}

/* All that an unreached block leads to is its clique. One that led a clique of its own before takes
 * that along. */
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
 * A leader that was taken by another clique has its members' leader still be itself. The one that
 * took it came later, so it is of a higher address: downwards, each leader's own is final before it
 * is asked for.
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

int leak_graph_classify(struct leak_graph *g)
{
	uint32_t n = g->blocks->count;
	struct todo t = { .block = malloc((n + (size_t)1) * sizeof(*t.block)),
		.in = calloc(n + (size_t)1, 1) };
	bool ok = t.block && t.in && !g->failed;

	if (ok) {
		blocks_pass(g, n);
		memset(g->class, UNREACHED, n);
		reach_all(g, &t);
		cliques_make(g, &t);
	}
	free(t.block);
	free(t.in);
	return ok ? 0 : -ENOMEM;
}
