/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of pointers (graph.h). */
#include "src/leak/analysis/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/heuristics.h"
#include "src/util/array.h"

#define QUESTIONS_MAX 512u /* read together: two words each, within one call's 1,024 */

static void *zeros(size_t count, size_t each)
{
	return array_large(calloc(count, each), count * each);
}

int leak_graph_start(struct leak_graph *g, struct leak_blocks *blocks)
{
	size_t n = (size_t)blocks->count + 1; /* never nothing */

	*g = (struct leak_graph){ .blocks = blocks, .heuristics = ~0u };
	g->root = zeros(n, 1);
	g->kept = zeros(n, 1);
	g->root_at = zeros(n, sizeof(*g->root_at));
	g->class = zeros(n, 1);
	g->heuristic = zeros(n, 1);
	g->leader = zeros(n, sizeof(*g->leader));
	g->first = zeros(n, sizeof(*g->first));
	g->header = zeros(n, 1);
	if (g->root && g->kept && g->root_at && g->class && g->heuristic && g->leader && g->first &&
		g->header)
		return 0;
	leak_graph_free(g);
	return -ENOMEM;
}

/* Only the pages of blocks with such a word are touched. */
void leak_graph_keep(struct leak_graph *g)
{
	g->root_words_state = LEAK_ROOT_WORDS_KEPT;
	g->first_word = calloc(g->blocks->count + (size_t)1, sizeof(*g->first_word));
}

void leak_graph_free(struct leak_graph *g)
{
	free(g->root);
	free(g->kept);
	free(g->root_at);
	free(g->class);
	free(g->heuristic);
	free(g->leader);
	free(g->first);
	free(g->edge);
	free(g->header);
	free(g->interior);
	free(g->root_word);
	free(g->first_word);
	*g = (struct leak_graph){ 0 };
}

/* ---- words ---- */

/* glibc: the chunk after this block's, which begins 16 bytes before its own block. */
static uint64_t next_chunk(const struct leak_block *b)
{
	uint64_t chunk = (b->size + 8 + 15) & ~UINT64_C(15);

	return b->addr - 16 + (chunk < 32 ? 32 : chunk);
}

/* Notes an interior pointer, which may turn out to count as one to the start. False: no memory. */
static bool interior_add(
	struct leak_interior **interior, size_t *count, size_t *room, struct leak_interior fresh)
{
	struct leak_interior *p = array_grow(*interior, *count, room, sizeof(fresh));

	if (!p)
		return false;
	*interior = p;
	p[(*count)++] = fresh;
	return true;
}

static void root_word_keep(struct leak_graph *g, struct leak_root_word fresh)
{
	struct leak_root_word *p = NULL;

	if (g->root_words < LEAK_ROOT_WORDS_MAX)
		p = array_grow(g->root_word, g->root_words, &g->root_word_capacity, sizeof(*p));
	if (p) {
		g->root_word = p;
		p[g->root_words++] = fresh;
	} else {
		g->root_words_state = LEAK_ROOT_WORDS_LOST;
	}
}

static void root_word(struct leak_graph *g, uint64_t at, uint64_t word, bool bins)
{
	uint32_t i = leak_blocks_find(g->blocks, word);
	const struct leak_block *b = i == LEAK_NONE ? NULL : &g->blocks->block[i];

	if (!b || (word != b->addr && bins && word == next_chunk(b)))
		return;
	if (g->root_words_state == LEAK_ROOT_WORDS_KEPT)
		root_word_keep(g, (struct leak_root_word){ at, i, word == b->addr });
	if (g->root[i] == LEAK_TO_START + 1)
		return;
	if (word == b->addr || g->root[i] == 0)
		g->root_at[i] = at;
	g->root[i] = word == b->addr ? LEAK_TO_START + 1 : LEAK_TO_INTERIOR + 1;
	if (word != b->addr)
		g->failed |= !interior_add(&g->interior, &g->interiors, &g->interior_capacity,
			(struct leak_interior){ word, LEAK_INTERIOR_ROOT | at });
}

void leak_graph_root(
	struct leak_graph *g, uint64_t at, const uint64_t *words, size_t count, bool bins)
{
	uint64_t lowest = g->blocks->lowest, span = g->blocks->span;

	for (size_t i = 0; i < count; i++) {
		uint64_t word = leak_word_address(words[i]);

		if (word - lowest < span)
			root_word(g, at + i * sizeof(*words), word, bins);
	}
}

void leak_graph_root_block(struct leak_graph *g, uint32_t block)
{
	g->root[block] = LEAK_TO_START + 1;
	g->kept[block] = 1;
}

void leak_graph_root_rule(struct leak_graph *g, uint32_t block, enum leak_heuristic rule)
{
	bool has_pointer = g->root[block] != 0 && g->root[block] != LEAK_TO_INTERIOR + 1;

	if (!(g->heuristics >> rule & 1))
		return;
	g->kept[block] = 1;
	if (!has_pointer)
		g->root[block] = (uint8_t)(LEAK_TO_INTERIOR + 1 + rule);
}

void leak_graph_forget_block(struct leak_graph *g, uint32_t block)
{
	for (uint64_t e = g->first[block]; e < g->first[block + 1]; e++)
		g->edge[e] = block << LEAK_TO_BITS | LEAK_TO_START;
	leak_graph_root_block(g, block);
}

/* ---- parts ---- */

void leak_graph_store(struct leak_store *s, size_t edges)
{
	*s = (struct leak_store){ .edge = array_large(malloc(edges * sizeof(*s->edge)),
					  edges * sizeof(*s->edge)) };
	s->edge_capacity = s->edge ? edges : 0;
}

void leak_graph_part(struct leak_part *p, struct leak_store *s, uint32_t begins)
{
	*p = (struct leak_part){
		.store = s, .edge = s->edges, .interior = s->interiors, .begins = begins
	};
}

static bool edge_add(struct leak_store *s, uint32_t edge)
{
	if (s->edges == s->edge_capacity) {
		uint32_t *p = array_grow(s->edge, s->edges, &s->edge_capacity, sizeof(*p));

		if (!p)
			return false;
		s->edge = p;
	}
	s->edge[s->edges++] = edge;
	return true;
}

static void part_word(
	const struct leak_graph *g, const struct leak_part *p, uint32_t block, uint64_t word)
{
	uint32_t to = leak_blocks_find(g->blocks, word);
	struct leak_store *s = p->store;

	if (to == LEAK_NONE || to == block)
		return;
	if (word == g->blocks->block[to].addr)
		s->failed |= !edge_add(s, to << LEAK_TO_BITS | LEAK_TO_START);
	else if (interior_add(&s->interior, &s->interiors, &s->interior_capacity,
			 (struct leak_interior){ word, s->edges - p->edge }))
		s->failed |= !edge_add(s, to << LEAK_TO_BITS | LEAK_TO_INTERIOR);
	else
		s->failed = true;
}

void leak_graph_scan(struct leak_graph *g, struct leak_part *p, uint32_t block,
	const uint64_t *words, size_t count)
{
	uint64_t lowest = g->blocks->lowest, span = g->blocks->span;
	size_t edges = p->store->edges;

	for (size_t i = 0; i < count; i++) {
		uint64_t word = leak_word_address(words[i]);

		if (word - lowest < span)
			part_word(g, p, block, word);
	}
	p->edges = p->store->edges - p->edge;
	p->interiors = p->store->interiors - p->interior;
	if (block >= p->begins) {
		g->first[block + 1] += p->store->edges - edges;
	} else {
		p->before = block;
		p->before_edges += p->store->edges - edges;
	}
}

void leak_graph_header(struct leak_graph *g, uint32_t block, uint64_t first, uint64_t second,
	enum leak_word_kind kind)
{
	g->header[block] =
		leak_heuristics_header(g->blocks->block[block].size, first, second, kind);
	if (kind == LEAK_WORD_FILE && g->first_word)
		g->first_word[block] = first;
}

static void part_join(struct leak_graph *g, const struct leak_part *p)
{
	const struct leak_store *s = p->store;

	if (p->before_edges)
		g->first[p->before + 1] += p->before_edges;
	if (p->edges && g->edge != s->edge)
		memcpy(g->edge + g->edges, s->edge + p->edge, p->edges * sizeof(*s->edge));
	for (size_t i = p->interior; i < p->interior + p->interiors; i++)
		g->interior[g->interiors++] = (struct leak_interior){ s->interior[i].pointer,
			g->edges + s->interior[i].edge };
	g->edges += p->edges;
}

/* One thread's parts are in order already. */
static bool edges_make(struct leak_graph *g, struct leak_store *stores, size_t count)
{
	size_t edges = 1, interiors = g->interiors + 1, with_edges = 0; /* never nothing */
	struct leak_interior *interior;

	for (size_t i = 0; i < count; i++) {
		edges += stores[i].edges;
		interiors += stores[i].interiors;
		with_edges += stores[i].edges > 0;
		if (stores[i].failed)
			return false;
	}
	for (size_t i = 0; i < count && with_edges == 1; i++)
		if (stores[i].edges > 0)
			g->edge = stores[i].edge;
	if (!g->edge)
		g->edge = array_large(malloc(edges * sizeof(*g->edge)), edges * sizeof(*g->edge));
	interior = realloc(g->interior, interiors * sizeof(*interior));
	g->interior = interior ? interior : g->interior;
	return g->edge && interior;
}

void leak_graph_join(struct leak_graph *g, struct leak_part *parts, size_t count,
	struct leak_store *stores, size_t store_count)
{
	if (!edges_make(g, stores, store_count))
		g->failed = true;
	for (size_t i = 0; i < count && !g->failed; i++)
		if (parts[i].store)
			part_join(g, &parts[i]);
	for (uint32_t i = 0; i < g->blocks->count; i++)
		g->first[i + 1] += g->first[i];
	for (size_t i = 0; i < store_count; i++) {
		if (stores[i].edge != g->edge)
			free(stores[i].edge);
		free(stores[i].interior);
	}
}

/* ---- heuristics ---- */

uint32_t leak_graph_interior_block(const struct leak_graph *g, const struct leak_interior *in)
{
	return leak_interior_is_root(in) ? leak_blocks_find(g->blocks, in->pointer)
					 : g->edge[in->edge] >> LEAK_TO_BITS;
}

uint32_t leak_graph_interior_owner(const struct leak_graph *g, const struct leak_interior *in)
{
	uint32_t low = 0, high = g->blocks->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->first[middle] <= in->edge)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool leak_graph_interior_is_open(const struct leak_graph *g, const struct leak_interior *in)
{
	if (leak_interior_is_root(in))
		return g->root[leak_graph_interior_block(g, in)] == LEAK_TO_INTERIOR + 1;
	return (g->edge[in->edge] & LEAK_TO_MASK) == LEAK_TO_INTERIOR;
}

void leak_graph_interior_settle(
	struct leak_graph *g, const struct leak_interior *in, enum leak_heuristic found)
{
	if (found == LEAK_BY_NONE || !(g->heuristics >> found & 1) ||
		!leak_graph_interior_is_open(g, in))
		return;
	if (leak_interior_is_root(in))
		g->root[leak_graph_interior_block(g, in)] = (uint8_t)(LEAK_TO_INTERIOR + 1 + found);
	else
		g->edge[in->edge] += found;
}

/* Pointers that may go to a base class, and the words that show it. */
struct questions {
	size_t count;
	const struct leak_interior *in[QUESTIONS_MAX];
	struct leak_word word[2 * QUESTIONS_MAX];
};

static bool is_table(const struct leak_word *w, const struct leak_memory *m)
{
	return w->ok && w->value % sizeof(w->value) == 0 && m->is_vtable(m->ctx, w->value);
}

static void questions_answer(struct leak_graph *g, const struct leak_memory *m, struct questions *q)
{
	m->read(m->ctx, q->word, 2 * q->count);
	for (size_t i = 0; i < q->count; i++)
		if (is_table(&q->word[2 * i + 1], m) && is_table(&q->word[2 * i], m))
			leak_graph_interior_settle(g, q->in[i], LEAK_BY_INHERITANCE);
	q->count = 0;
}

static void interior_explain(struct leak_graph *g, const struct leak_memory *m,
	const struct leak_interior *in, struct questions *q)
{
	uint32_t i = leak_graph_interior_block(g, in);
	const struct leak_block *b = &g->blocks->block[i];
	uint64_t offset = in->pointer - b->addr;
	enum leak_heuristic found =
		leak_heuristics_judge(g->heuristics, g->header[i], b->size, offset);

	if (!leak_graph_interior_is_open(g, in))
		return; /* explained already, or it does not matter */
	if (found != LEAK_BY_NONE) {
		leak_graph_interior_settle(g, in, found);
	} else if (leak_heuristics_may_be_base(g->header[i], b->size, offset)) {
		q->in[q->count] = in;
		q->word[2 * q->count] = (struct leak_word){ .addr = b->addr };
		q->word[2 * q->count + 1] = (struct leak_word){ .addr = in->pointer };
		if (++q->count == QUESTIONS_MAX)
			questions_answer(g, m, q);
	}
}

void leak_graph_explain(struct leak_graph *g, const struct leak_memory *m)
{
	struct questions *q = calloc(1, sizeof(*q));

	g->failed = g->failed || !q;
	for (size_t i = 0; i < g->interiors && !g->failed; i++)
		interior_explain(g, m, &g->interior[i], q);
	if (q)
		questions_answer(g, m, q);
	free(q);
}
