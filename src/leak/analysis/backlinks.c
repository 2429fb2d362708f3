/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pointers to structures that point back (backlinks.h). */
#include "src/leak/analysis/backlinks.h"

#include <stdlib.h>

#include "src/leak/analysis/classes.h"
#include "src/leak/analysis/heuristics.h"
#include "src/leak/analysis/known_layouts.h"

#define WORD	      sizeof(uint64_t)
#define LINK_BYTES    (2 * WORD)
#define ASKED	      5u /* words read: the one before the target, and four from it on */
#define QUESTIONS_MAX 204u /* read together, within one call's 1,024 words */
#define BACKS	      3u /* words that may lead back to the pointer, for each */
#define FEW	      4096u /* interior pointers that are checked in some milliseconds */
#define PLACES	      1024u /* a power of two; more offsets are not counted */
#define OFFSET_CHECKS_MAX                                                                          \
	512u /* pointers checked for each offset, if there are more than a few                     \
	      */

/* Interior pointers, and the words that show what they go to. */
struct questions {
	size_t count;
	const struct leak_interior *in[QUESTIONS_MAX];
	struct leak_word word[ASKED * QUESTIONS_MAX];
	/* Words that hold one of these pointers, if it goes to what it seems to. */
	size_t backs;
	const struct leak_interior *back_in[BACKS * QUESTIONS_MAX];
	struct leak_word back[BACKS * QUESTIONS_MAX];
};

/* The words of a question. */
enum { BEFORE, FIRST, SECOND, THIRD, FOURTH };

/* How many pointers to one offset in blocks were checked. */
struct place {
	uint64_t offset; /* 0: none */
	unsigned asked;
};

struct backlink_search {
	struct leak_graph *g;
	const struct leak_memory *m;
	bool classified; /* too many interior pointers to check all */
	struct questions q;
	struct leak_known_layouts shapes;
	struct place place[PLACES];
};

static bool counts(const struct backlink_search *l, enum leak_heuristic rule)
{
	return l->g->heuristics >> rule & 1;
}

/* Whether one more pointer to this offset is to be checked. */
static bool place_count(struct backlink_search *l, uint64_t offset)
{
	size_t slot = (size_t)(offset / WORD) & (PLACES - 1);

	if (!l->classified || !counts(l, LEAK_BY_HEADER))
		return true; /* few pointers, or offsets are not learned */
	for (size_t i = 0; i < PLACES; i++, slot = (slot + 1) & (PLACES - 1)) {
		if (l->place[slot].offset == 0)
			l->place[slot].offset = offset;
		if (l->place[slot].offset == offset)
			return l->place[slot].asked++ < OFFSET_CHECKS_MAX;
	}
	return true;
}

/* Whether the pointer may lie at `at`: a root there, or a word of the block that has it. */
static bool may_lie(const struct leak_graph *g, const struct leak_interior *in, uint64_t at)
{
	const struct leak_block *owner;

	if (at % WORD != 0)
		return false;
	if (leak_interior_is_root(in))
		return at == leak_interior_root_at(in);
	owner = &g->blocks->block[leak_graph_interior_owner(g, in)];
	return at >= owner->addr && owner->size >= WORD && at - owner->addr <= owner->size - WORD;
}

/*
 * A link is {next, previous} or {previous, next}. If the previous member points to it, that
 * member's next is the word that our previous points to, or the second word there, as both layouts
 * are alike; backwards it is the same. A TAILQ's previous points to the word itself.
 */
static uint64_t link_back(
	const struct leak_graph *g, const struct leak_interior *in, const struct leak_word *link)
{
	uint64_t second_of = link[0].value + WORD, word_itself = link[1].value;

	if (!link[0].ok || !link[1].ok)
		return 0;
	if (may_lie(g, in, word_itself))
		return word_itself;
	return may_lie(g, in, second_of) ? second_of : 0;
}

/* Whether a word points to the start of a block, or to where a pointer counts as one. */
static bool is_start(const struct leak_graph *g, uint32_t block, const struct leak_word *w)
{
	const struct leak_block *b = &g->blocks->block[block];
	uint64_t offset = w->value - b->addr;

	if (!w->ok || offset >= b->size)
		return false;
	return offset == 0 || leak_heuristics_judge(g->heuristics, g->header[block], b->size,
				      offset) != LEAK_BY_NONE;
}

static void back_ask(struct questions *q, const struct leak_interior *in, uint64_t addr)
{
	q->back_in[q->backs] = in;
	q->back[q->backs++] = (struct leak_word){ .addr = addr };
}

/*
 * Checks for a list member whose links (next, previous) follow `before` bytes after the place that
 * pointers go to: the next member's previous, or the previous member's next, is the pointer itself.
 */
static bool ring_ask(struct backlink_search *l, const struct leak_interior *in,
	const struct leak_word *link, uint64_t before)
{
	const struct leak_word *next = &link[0], *previous = &link[1];

	if (!next->ok || !previous->ok)
		return false;
	if (next->value == in->pointer && previous->value == in->pointer)
		return true; /* the only member of a ring */
	if (leak_blocks_find(l->g->blocks, next->value) != LEAK_NONE)
		back_ask(&l->q, in, next->value + before + WORD);
	else if (leak_blocks_find(l->g->blocks, previous->value) != LEAK_NONE)
		back_ask(&l->q, in, previous->value + before);
	return false;
}

/* Whether a word leads back to the start of its block, or to where the pointer seems to lie. For a
 * root that is certain; for a block, the word there is read next. */
static bool is_backlink(
	struct backlink_search *l, const struct leak_interior *in, const struct leak_word *w)
{
	uint64_t back = link_back(l->g, in, &w[FIRST]);
	uint32_t block = leak_graph_interior_block(l->g, in);

	if (is_start(l->g, block, &w[FIRST]) || is_start(l->g, block, &w[SECOND]) ||
		(back != 0 && leak_interior_is_root(in)))
		return true;
	if (back != 0)
		back_ask(&l->q, in, back);
	return ring_ask(l, in, &w[SECOND], WORD) || ring_ask(l, in, &w[THIRD], 2 * WORD);
}

static enum leak_heuristic judge(
	struct backlink_search *l, const struct leak_interior *in, const struct leak_word *w)
{
	const struct leak_block *b = &l->g->blocks->block[leak_graph_interior_block(l->g, in)];

	if (counts(l, LEAK_BY_SLAB) && w[BEFORE].ok &&
		leak_known_layouts_is_slot(b, l->m, in->pointer, w[BEFORE].value))
		return LEAK_BY_SLAB;
	if (counts(l, LEAK_BY_GOBJECT) && w[FIRST].ok && w[SECOND].ok &&
		(leak_known_layouts_is_instance(&l->shapes, l->g, l->m, w[FIRST].value) ||
			leak_known_layouts_is_closure(
				b, l->m, in->pointer, w[FIRST].value, w[SECOND].value)))
		return LEAK_BY_GOBJECT;
	return counts(l, LEAK_BY_BACKLINK) && is_backlink(l, in, w) ? LEAK_BY_BACKLINK
								    : LEAK_BY_NONE;
}

static void questions_answer(struct backlink_search *l)
{
	struct questions *q = &l->q;

	l->m->read(l->m->ctx, q->word, ASKED * q->count);
	for (size_t i = 0; i < q->count; i++) {
		const struct leak_interior *in = q->in[i];
		const struct leak_block *b =
			&l->g->blocks->block[leak_graph_interior_block(l->g, in)];

		for (unsigned k = 0; k < ASKED; k++)
			q->word[ASKED * i + k].ok &=
				q->word[ASKED * i + k].addr + WORD <= b->addr + b->size;
		leak_graph_interior_settle(l->g, in, judge(l, in, &q->word[ASKED * i]));
	}
	l->m->read(l->m->ctx, q->back, q->backs);
	for (size_t i = 0; i < q->backs; i++)
		if (q->back[i].ok && q->back[i].value == q->back_in[i]->pointer)
			leak_graph_interior_settle(l->g, q->back_in[i], LEAK_BY_BACKLINK);
	q->count = q->backs = 0;
}

/* Asks for the words around an aligned pointer's target. Words after the block do not count. */
static void words_add(struct backlink_search *l, const struct leak_interior *in)
{
	struct questions *q = &l->q;
	struct leak_word *w = &q->word[ASKED * q->count];

	for (unsigned k = 0; k < ASKED; k++)
		w[k] = (struct leak_word){ .addr = in->pointer + k * WORD - WORD };
	q->in[q->count] = in;
	if (++q->count == QUESTIONS_MAX)
		questions_answer(l);
}

static void interior_inspect(struct backlink_search *l, const struct leak_interior *in)
{
	const struct leak_graph *g = l->g;
	uint32_t i = leak_graph_interior_block(g, in);
	const struct leak_block *b = &g->blocks->block[i];
	uint64_t offset = in->pointer - b->addr;
	bool is_marked = offset < LEAK_KNOWN_LAYOUTS_MARKS && !leak_interior_is_root(in);

	if (!leak_graph_interior_is_open(g, in) ||
		(l->classified && g->class[i] == LEAK_REACHABLE) || b->size < LINK_BYTES)
		return;
	if (is_marked) {
		if (counts(l, LEAK_BY_MARKED) && place_count(l, offset) &&
			leak_known_layouts_is_marked(
				g, l->m, leak_graph_interior_owner(g, in), in->pointer))
			leak_graph_interior_settle(l->g, in, LEAK_BY_MARKED);
	} else if (offset % WORD == 0 && offset <= b->size - LINK_BYTES && place_count(l, offset)) {
		words_add(l, in);
	}
}

void leak_backlinks_explain(struct leak_graph *g, const struct leak_memory *m)
{
	const unsigned rules = 1u << LEAK_BY_BACKLINK | 1u << LEAK_BY_GOBJECT | 1u << LEAK_BY_SLAB |
			       1u << LEAK_BY_MARKED;
	struct backlink_search *l;

	if (g->failed || g->interiors == 0 || !(g->heuristics & rules))
		return;
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->g = g;
	l->m = m;
	l->classified = g->interiors > FEW && leak_classes_assign(g) == 0;
	for (size_t i = 0; i < g->interiors; i++)
		interior_inspect(l, &g->interior[i]);
	questions_answer(l);
	free(l);
}
