/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Retained sizes (holders.h). */
#include "src/leak/analysis/holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/classes.h"
#include "src/util/array.h"
#include "src/util/intern.h"

#define NAME_MAX_BYTES 320u
#define NAMES_START    64u

/* Roots by their names, which are interned: equal names have one address. */
struct naming {
	struct leak_holders *h;
	uint32_t *table; /* the root; 0: free */
	uint32_t mask;
	size_t capacity;
};

/* ---- edges ---- */

static bool is_lost(unsigned class)
{
	return class == LEAK_DEFINITE || class == LEAK_INDIRECT;
}

/* Whether an edge between blocks counts. */
static bool edge_counts(unsigned from, unsigned to, unsigned how)
{
	if (to == LEAK_REACHABLE)
		return from == LEAK_REACHABLE && how != LEAK_TO_INTERIOR;
	if (to == LEAK_POSSIBLE)
		return from == LEAK_REACHABLE || from == LEAK_POSSIBLE;
	return is_lost(from);
}

static bool root_counts(const struct leak_graph *g, const struct leak_root_word *w)
{
	unsigned class = g->class[w->block];

	if (class == LEAK_POSSIBLE || (class == LEAK_REACHABLE && w->start))
		return true;
	/* The best pointer from a root is an interior one that a heuristic explains. */
	return class == LEAK_REACHABLE && g->root[w->block] > LEAK_TO_INTERIOR + 1;
}

static uint32_t block_next(const struct leak_holders *h, uint32_t block, uint32_t *cursor)
{
	const struct leak_graph *g = h->graph;
	uint64_t e = g->first[block] + *cursor;

	for (; e < g->first[block + 1]; e++) {
		uint32_t to = g->edge[e] >> LEAK_TO_BITS;

		if (edge_counts(g->class[block], g -> class[to], g -> edge[e] & LEAK_TO_MASK)) {
			*cursor = (uint32_t)(e + 1 - g->first[block]);
			return h->roots + to;
		}
	}
	*cursor = (uint32_t)(e - g->first[block]);
	return LEAK_NO_NODE;
}

/* The blocks of the two roots without words. */
static uint32_t special_next(const struct leak_holders *h, uint32_t node, uint32_t *cursor)
{
	for (uint32_t i = *cursor; i < h->graph->blocks->count; i++)
		if (node == LEAK_HOLDERS_LOST
				? h->graph->class[i] == LEAK_DEFINITE
				: h->graph->kept[i] && h->graph->class[i] == LEAK_REACHABLE) {
			*cursor = i + 1;
			return h->roots + i;
		}
	*cursor = h->graph->blocks->count;
	return LEAK_NO_NODE;
}

uint32_t leak_holders_next(void *holders, uint32_t node, uint32_t *cursor)
{
	const struct leak_holders *h = holders;

	if (node >= h->roots)
		return block_next(h, node - h->roots, cursor);
	if (node == LEAK_HOLDERS_START)
		return *cursor + 1 < h->roots ? ++*cursor : LEAK_NO_NODE;
	if (node < LEAK_HOLDERS_NAMED)
		return special_next(h, node, cursor);
	if (h->first[node] + *cursor == h->first[node + 1])
		return LEAK_NO_NODE;
	return h->roots + h->target[h->first[node] + (*cursor)++];
}

/* ---- roots by their names ---- */

static uint32_t *slot_of(struct naming *n, const char *name)
{
	uint32_t i = (uint32_t)(((uintptr_t)name >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (i &= n->mask; n->table[i] != 0 && n->h->name[n->table[i]] != name;
		i = (i + 1) & n->mask)
		;
	return &n->table[i];
}

/* Doubles the table and the list of names. */
static bool naming_grow(struct naming *n)
{
	size_t capacity = n->capacity ? 2 * n->capacity : NAMES_START;
	const char **name = realloc(n->h->name, capacity * sizeof(*name));
	uint32_t *table = calloc(2 * capacity, sizeof(*table));

	if (name)
		n->h->name = name;
	if (!name || !table) {
		free(table);
		return false;
	}
	free(n->table);
	n->table = table;
	n->mask = (uint32_t)(2 * capacity - 1);
	n->capacity = capacity;
	for (uint32_t i = LEAK_HOLDERS_NAMED; i < n->h->roots; i++)
		*slot_of(n, name[i]) = i;
	return true;
}

/* The root with that name; 0: out of memory. */
static uint32_t root_of(struct naming *n, const char *text)
{
	const char *name = intern_text(n->h->names, text, strlen(text));
	uint32_t *slot;

	if (!name || (n->h->roots == n->capacity && !naming_grow(n)))
		return 0;
	slot = slot_of(n, name);
	if (*slot == 0) {
		*slot = n->h->roots;
		n->h->name[n->h->roots++] = name;
	}
	return *slot;
}

/* The root of each word; 0: the word does not count. */
static int words_name(struct naming *n, const struct leak_root_context *found, uint32_t *root,
	const atomic_bool *stop)
{
	const struct leak_graph *g = found->graph;
	char text[NAME_MAX_BYTES];

	for (size_t i = 0; i < g->root_words; i++) {
		root[i] = 0;
		if (!root_counts(g, &g->root_word[i]))
			continue;
		leak_root_names_text(found, g->root_word[i].at, text, sizeof(text));
		root[i] = root_of(n, text);
		if (root[i] == 0)
			return -ENOMEM;
		if (*stop)
			return -ECANCELED;
	}
	return 0;
}

/* Sorts the words by their roots. */
static int targets_make(struct leak_holders *h, const uint32_t *root)
{
	const struct leak_graph *g = h->graph;

	h->first = calloc(h->roots + (size_t)2, sizeof(*h->first));
	h->target = malloc((g->root_words + 1) * sizeof(*h->target));
	if (!h->first || !h->target)
		return -ENOMEM;
	for (size_t i = 0; i < g->root_words; i++)
		if (root[i] != 0)
			h->first[root[i] + 2]++;
	for (uint32_t i = 0; i < h->roots; i++)
		h->first[i + 2] += h->first[i + 1];
	for (size_t i = 0; i < g->root_words; i++)
		if (root[i] != 0)
			h->target[h->first[root[i] + 1]++] = g->root_word[i].block;
	return 0;
}

static int roots_make(
	struct leak_holders *h, const struct leak_root_context *found, const atomic_bool *stop)
{
	struct naming n = { .h = h };
	uint32_t *root = malloc((found->graph->root_words + 1) * sizeof(*root));
	int rc = root && naming_grow(&n) ? 0 : -ENOMEM;

	if (rc == 0) {
		h->roots = LEAK_HOLDERS_NAMED;
		h->name[LEAK_HOLDERS_START] = NULL;
		h->name[LEAK_HOLDERS_LOST] = "nothing (lost)";
		h->name[LEAK_HOLDERS_KEPT] = "the loader, or heaptop_leak_intended";
		rc = words_name(&n, found, root, stop);
	}
	if (rc == 0)
		rc = targets_make(h, root);
	free(n.table);
	free(root);
	return rc;
}

/* ---- sizes ---- */

static int sizes_make(struct leak_holders *h)
{
	const struct leak_block *block = h->graph->blocks->block;
	uint32_t n = h->tree.count;

	h->bytes = array_large(calloc(n, sizeof(*h->bytes)), n * sizeof(*h->bytes));
	h->blocks = array_large(calloc(n, sizeof(*h->blocks)), n * sizeof(*h->blocks));
	h->site = array_large(malloc(n * sizeof(*h->site)), n * sizeof(*h->site));
	if (!h->bytes || !h->blocks || !h->site)
		return -ENOMEM;
	h->site[0] = LEAK_HOLDERS_NO_SITE;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t at = leak_holders_block(h, i);

		h->site[i] = at == LEAK_NONE ? LEAK_HOLDERS_NO_SITE : block[at].site;
		if (at != LEAK_NONE && block[at].birth != LEAK_BIRTH_UNSURE) {
			h->bytes[i] += block[at].size;
			h->blocks[i]++;
		}
		h->bytes[h->tree.dominator[i]] += h->bytes[i];
		h->blocks[h->tree.dominator[i]] += h->blocks[i];
	}
	return 0;
}

static int tree_make(struct leak_holders *h, const atomic_bool *stop)
{
	const struct leak_flow flow = { .nodes = h->roots + h->graph->blocks->count,
		.next = leak_holders_next,
		.ctx = h,
		.stop = stop };

	return leak_dominators_find(&h->tree, &flow);
}

int leak_holders_make(
	struct leak_holders *h, const struct leak_root_context *found, const atomic_bool *stop)
{
	int rc = -E2BIG;

	*h = (struct leak_holders){ .graph = found->graph };
	if (found->graph->root_words_state == LEAK_ROOT_WORDS_KEPT) {
		h->names = intern_new();
		rc = h->names ? roots_make(h, found, stop) : -ENOMEM;
	}
	if (rc == 0)
		rc = tree_make(h, stop);
	if (rc == 0)
		rc = sizes_make(h);
	if (rc != 0)
		leak_holders_free(h);
	return rc;
}

void leak_holders_free(struct leak_holders *h)
{
	leak_dominators_free(&h->tree);
	free(h->name);
	free(h->bytes);
	free(h->blocks);
	free(h->site);
	free(h->first);
	free(h->target);
	if (h->names)
		intern_free(h->names);
	*h = (struct leak_holders){ 0 };
}

uint32_t leak_holders_number(const struct leak_holders *h, uint32_t block)
{
	return h->tree.number[h->roots + block];
}

uint32_t leak_holders_block(const struct leak_holders *h, uint32_t number)
{
	uint32_t node = h->tree.node[number];

	return node < h->roots ? LEAK_NONE : node - h->roots;
}
