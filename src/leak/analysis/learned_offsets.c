/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning offsets of pointers (learned_offsets.h). */
#include "src/leak/analysis/learned_offsets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/classes.h"

/* Up to here an offset may be the end of a header that blocks of any size have: the longest known,
 * a few words of links and counts, has 64 bytes. Further offsets count only for blocks of one size.
 */
#define HEADER_MAX 64u
/* So many blocks must have pointers to one offset: two may be chance. Further offsets are more in
 * number, and more blocks have them, so chance hits one more often. */
#define HEADERS_LEAST 3u
#define PLACES_LEAST  8u

/* The place that a pointer goes to. */
struct place {
	uint64_t offset;
	uint64_t size; /* of the block; 0 for an offset within HEADER_MAX */
	uint32_t block;
};

struct learning {
	struct leak_graph *g;
	struct place *place;
	size_t count;
	size_t learned; /* of these, the first ones; the rest no longer matters */
};

static int place_order(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static int place_block_order(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int by = place_order(a, b);

	return by ? by : (a->block > b->block) - (a->block < b->block);
}

/* The place of an interior pointer. */
static struct place place_of(const struct leak_graph *g, const struct leak_interior *in)
{
	struct place p = { .block = leak_graph_interior_block(g, in) };
	const struct leak_block *b = &g->blocks->block[p.block];

	p.offset = in->pointer - b->addr;
	p.size = p.offset <= HEADER_MAX ? 0 : b->size;
	return p;
}

/* Whether a pointer is evidence: the block is known only by it, or by others like it. */
static bool is_evidence(const struct leak_graph *g, const struct leak_interior *in, uint32_t block)
{
	if (leak_graph_interior_is_open(g, in))
		return g->class[block] == LEAK_POSSIBLE;
	return g->heuristic[block] == LEAK_BY_BACKLINK;
}

static int places_collect(struct learning *l)
{
	const struct leak_graph *g = l->g;

	l->place = malloc((g->interiors + 1) * sizeof(*l->place));
	if (!l->place)
		return -ENOMEM;
	for (size_t i = 0; i < g->interiors; i++) {
		struct place p = place_of(g, &g->interior[i]);

		if (is_evidence(g, &g->interior[i], p.block))
			l->place[l->count++] = p;
	}
	qsort(l->place, l->count, sizeof(*l->place), place_block_order);
	return 0;
}

/* Keeps each place that enough blocks have. */
static void places_filter(struct learning *l)
{
	for (size_t i = 0, end; i < l->count; i = end) {
		size_t blocks = 1;

		for (end = i + 1; end < l->count && place_order(&l->place[i], &l->place[end]) == 0;
			end++)
			blocks += l->place[end].block != l->place[end - 1].block;
		if (blocks >= (l->place[i].size ? PLACES_LEAST : HEADERS_LEAST))
			l->place[l->learned++] = l->place[i];
	}
}

static void place_mark(struct learning *l, const struct leak_interior *in)
{
	struct place p = place_of(l->g, in);

	if (leak_graph_interior_is_open(l->g, in) &&
		bsearch(&p, l->place, l->learned, sizeof(p), place_order))
		leak_graph_interior_settle(l->g, in, LEAK_BY_HEADER);
}

int leak_learned_offsets_find(struct leak_graph *g)
{
	struct learning l = { .g = g };

	if (!memchr(g->class, LEAK_POSSIBLE, g->blocks->count))
		return 0;
	if (places_collect(&l) != 0)
		return -ENOMEM;
	places_filter(&l);
	for (size_t i = 0; l.learned > 0 && i < g->interiors; i++)
		place_mark(&l, &g->interior[i]);
	free(l.place);
	return l.learned > 0;
}
