/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pointers to what points back (backlinks.h). */
#include "src/leak/backlinks.h"

#include <stdlib.h>

#include "src/leak/heuristics.h"

#define WORD	      sizeof(uint64_t)
#define LINK_BYTES    (2 * WORD)
#define QUESTIONS_MAX 512u /* asked for together: two words each, within one call's 1,024 */
#define FEW	      4096u /* pointers inside: looked at in some milliseconds */
#define PLACES	      1024u /* a power of two; more are not counted */
#define PLACE_MOST    512u /* looked at of each, if there are more than a few */

/* Pointers inside, and the words that tell. */
struct questions {
	size_t count;
	const struct leak_inside *in[QUESTIONS_MAX];
	struct leak_word word[2 * QUESTIONS_MAX];
};

/* How many were looked at of one place in blocks; by how far it is from their start. */
struct place {
	uint64_t offset; /* 0: none */
	unsigned asked;
};

struct looking {
	struct leak_graph *g;
	const struct leak_memory *m;
	bool classified; /* too many pointers inside to look at all */
	struct questions q;
	struct place place[PLACES];
};

/* Whether there is need to look at one more pointer to this place. */
static bool place_count(struct looking *l, uint64_t offset)
{
	size_t slot = (size_t)(offset / WORD) & (PLACES - 1);

	if (!l->classified || !(l->g->heuristics >> LEAK_BY_HEADER & 1))
		return true; /* few, or nothing is learned of them */
	for (size_t i = 0; i < PLACES; i++, slot = (slot + 1) & (PLACES - 1)) {
		if (l->place[slot].offset == 0)
			l->place[slot].offset = offset;
		if (l->place[slot].offset == offset)
			return l->place[slot].asked++ < PLACE_MOST;
	}
	return true;
}

/* The block whose edge it is. */
static uint32_t edge_owner(const struct leak_graph *g, uint64_t edge)
{
	uint32_t low = 0, high = g->blocks->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (g->first[middle] <= edge)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Whether a pointer may lie at `at`: it is a root there, or a word of the block that has it. */
static bool may_lie(const struct leak_graph *g, const struct leak_inside *in, uint64_t at)
{
	const struct leak_block *owner;

	if (at % WORD != 0)
		return false;
	if (leak_inside_is_root(in))
		return at == leak_inside_root_at(in);
	owner = &g->blocks->block[edge_owner(g, in->edge)];
	return at >= owner->addr && owner->size >= WORD && at - owner->addr <= owner->size - WORD;
}

/*
 * A link is {next, previous} or {previous, next}. If the one before points to it, that one's next
 * is the word that its own previous goes to, or the second one there, as both are alike; backwards
 * it is the same. A TAILQ's previous goes to the word itself.
 */
static uint64_t link_back(
	const struct leak_graph *g, const struct leak_inside *in, const struct leak_word *link)
{
	uint64_t second_of = link[0].value + WORD, word_itself = link[1].value;

	if (!link[0].ok || !link[1].ok)
		return 0;
	if (may_lie(g, in, word_itself))
		return word_itself;
	return may_lie(g, in, second_of) ? second_of : 0;
}

/* Whether a word is the start of a block, or where a pointer is as good as to that. */
static bool is_start(const struct leak_graph *g, uint32_t block, const struct leak_word *w)
{
	const struct leak_block *b = &g->blocks->block[block];
	uint64_t offset = w->value - b->addr;

	if (!w->ok || offset >= b->size)
		return false;
	return offset == 0 || leak_heuristics_judge(g->heuristics, g->head[block], b->size,
				      offset) != LEAK_BY_NONE;
}

/* What leads back to the start of its block, and what leads to where the pointer seems to lie, if
 * the pointer is there; of a root's that is known. */
static void backs_check(struct looking *l)
{
	struct questions *q = &l->q;
	size_t n = 0;

	for (size_t i = 0; i < q->count; i++) {
		const struct leak_inside *in = q->in[i];
		const struct leak_word *w = &q->word[2 * i];
		uint64_t back = link_back(l->g, in, w);
		uint32_t block = leak_inside_block(l->g, in);

		if (is_start(l->g, block, &w[0]) || is_start(l->g, block, &w[1]) ||
			(back != 0 && leak_inside_is_root(in))) {
			leak_inside_settle(l->g, in, LEAK_BY_BACKLINK);
		} else if (back != 0) {
			q->in[n] = in;
			q->word[n++] = (struct leak_word){ .addr = back };
		}
	}
	l->m->read(l->m->ctx, q->word, n);
	for (size_t i = 0; i < n; i++)
		if (q->word[i].ok && q->word[i].value == q->in[i]->pointer)
			leak_inside_settle(l->g, q->in[i], LEAK_BY_BACKLINK);
	q->count = 0;
}

static void questions_ask(struct looking *l)
{
	l->m->read(l->m->ctx, l->q.word, 2 * l->q.count);
	backs_check(l);
}

static void inside_look(struct looking *l, const struct leak_inside *in)
{
	const struct leak_graph *g = l->g;
	struct questions *q = &l->q;
	uint32_t i = leak_inside_block(g, in);
	const struct leak_block *b = &g->blocks->block[i];
	uint64_t offset = in->pointer - b->addr;

	if (!leak_inside_is_open(g, in) || (l->classified && g->class[i] == LEAK_REACHABLE) ||
		offset % WORD != 0 || b->size < LINK_BYTES || offset > b->size - LINK_BYTES ||
		!place_count(l, offset))
		return;
	q->in[q->count] = in;
	q->word[2 * q->count] = (struct leak_word){ .addr = in->pointer };
	q->word[2 * q->count + 1] = (struct leak_word){ .addr = in->pointer + WORD };
	if (++q->count == QUESTIONS_MAX)
		questions_ask(l);
}

void leak_backlinks_explain(struct leak_graph *g, const struct leak_memory *m)
{
	struct looking *l;

	if (g->failed || g->insides == 0 || !(g->heuristics >> LEAK_BY_BACKLINK & 1))
		return;
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->g = g;
	l->m = m;
	l->classified = g->insides > FEW && leak_graph_classify(g) == 0;
	for (size_t i = 0; i < g->insides; i++)
		inside_look(l, &g->inside[i]);
	questions_ask(l);
	free(l);
}
