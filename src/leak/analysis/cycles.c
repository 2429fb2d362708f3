/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strongly connected lost blocks, and their kinds (cycles.h). */
#include "src/leak/analysis/cycles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/leak/analysis/classes.h"

#define NONE	  LEAK_NONE
#define KINDS_MAX LEAK_CYCLES_MOST

struct search {
	const struct leak_graph *g;
	uint32_t *number; /* in the order of the search; NONE: not yet seen */
	uint32_t *low; /* the least number that a block leads to within its component */
	uint32_t *component; /* NONE: not closed yet */
	uint32_t *cursor; /* the edge that is next */
	uint32_t *up; /* the block before, on the way of the search */
	uint32_t *stack; /* blocks of open components */
	uint32_t depth, numbers, components;
	/* A component's blocks one after another: member[first[c]] to member[first[c + 1] - 1]. */
	uint32_t *member, *first;
	uint32_t members;
	uint8_t *has_way_in; /* per component: a lost block outside leads to it */
	struct leak_cycle *kind;
	uint32_t kinds;
};

static bool is_lost(const struct leak_graph *g, uint32_t i)
{
	return g->class[i] == LEAK_DEFINITE || g->class[i] == LEAK_INDIRECT;
}

static bool allocate(struct search *s)
{
	size_t n = s->g->blocks->count + (size_t)1;

	s->number = malloc(n * sizeof(*s->number));
	s->low = malloc(n * sizeof(*s->low));
	s->component = malloc(n * sizeof(*s->component));
	s->cursor = calloc(n, sizeof(*s->cursor));
	s->up = malloc(n * sizeof(*s->up));
	s->stack = malloc(n * sizeof(*s->stack));
	s->member = malloc(n * sizeof(*s->member));
	s->first = malloc(n * sizeof(*s->first));
	s->has_way_in = calloc(n, 1);
	s->kind = calloc(KINDS_MAX, sizeof(*s->kind));
	if (!s->number || !s->low || !s->component || !s->cursor || !s->up || !s->stack ||
		!s->member || !s->first || !s->has_way_in || !s->kind)
		return false;
	memset(s->number, 0xff, n * sizeof(*s->number));
	memset(s->component, 0xff, n * sizeof(*s->component));
	return true;
}

/* ---- components ---- */

static void enter(struct search *s, uint32_t i, uint32_t from)
{
	s->number[i] = s->low[i] = s->numbers++;
	s->up[i] = from;
	s->stack[s->depth++] = i;
}

/* The blocks on the stack from `i` on are one component. */
static void component_close(struct search *s, uint32_t i)
{
	uint32_t member;

	s->first[s->components] = s->members;
	do {
		member = s->stack[--s->depth];
		s->component[member] = s->components;
		s->member[s->members++] = member;
	} while (member != i);
	s->first[++s->components] = s->members;
}

/* Follows the next edge of `i`. Returns the block to go on with. */
static uint32_t step(struct search *s, uint32_t i)
{
	uint64_t e = s->g->first[i] + s->cursor[i]++;
	uint32_t to = s->g->edge[e] >> LEAK_TO_BITS;

	if (!is_lost(s->g, to))
		return i;
	if (s->number[to] == NONE) {
		enter(s, to, i);
		return to;
	}
	if (s->component[to] == NONE && s->number[to] < s->low[i])
		s->low[i] = s->number[to];
	return i;
}

static void search_from(struct search *s, uint32_t i)
{
	enter(s, i, NONE);
	while (i != NONE) {
		uint32_t from = s->up[i];

		if (s->g->first[i] + s->cursor[i] < s->g->first[i + 1]) {
			i = step(s, i);
			continue;
		}
		if (s->low[i] == s->number[i])
			component_close(s, i);
		if (from != NONE && s->low[i] < s->low[from])
			s->low[from] = s->low[i];
		i = from;
	}
}

static void ways_in_find(struct search *s)
{
	const struct leak_graph *g = s->g;

	for (uint32_t i = 0; i < g->blocks->count; i++)
		for (uint64_t e = g->first[i]; is_lost(g, i) && e < g->first[i + 1]; e++) {
			uint32_t to = g->edge[e] >> LEAK_TO_BITS;

			if (is_lost(g, to) && s->component[to] != s->component[i])
				s->has_way_in[s->component[to]] = 1;
		}
}

/* ---- kinds ---- */

static int site_order(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* The different sites of a component; of very large ones, of its first blocks. */
static void sites_of(const struct search *s, uint32_t c, struct leak_cycle *out)
{
	uint32_t site[64], n = 0;

	for (uint32_t m = s->first[c]; m < s->first[c + 1] && n < 64; m++) {
		uint32_t id = s->g->blocks->block[s->member[m]].site, k = 0;

		while (k < n && site[k] != id)
			k++;
		if (k == n)
			site[n++] = id;
	}
	qsort(site, n, sizeof(*site), site_order);
	out->sites = n;
	memcpy(out->site, site, (n < LEAK_CYCLE_SITES ? n : LEAK_CYCLE_SITES) * sizeof(*site));
}

/* The kind of `fresh`, which is added if it is a new one. NULL: there are too many. */
static struct leak_cycle *kind_of(struct search *s, const struct leak_cycle *fresh)
{
	uint32_t k = 0;

	while (k < s->kinds &&
		(s->kind[k].sites != fresh->sites ||
			memcmp(s->kind[k].site, fresh->site, sizeof(fresh->site)) != 0))
		k++;
	if (k == KINDS_MAX)
		return NULL;
	if (k == s->kinds) {
		s->kind[s->kinds++] = (struct leak_cycle){ .sites = fresh->sites };
		memcpy(s->kind[k].site, fresh->site, sizeof(fresh->site));
	}
	return &s->kind[k];
}

static void kind_add(struct search *s, uint32_t c,
	void (*leader)(void *ctx, uint32_t block, struct leak_cycle *of), void *ctx)
{
	struct leak_cycle fresh = { 0 }, *kind;

	sites_of(s, c, &fresh);
	kind = kind_of(s, &fresh);
	if (!kind)
		return;
	kind->times++;
	kind->blocks += s->first[c + 1] - s->first[c];
	for (uint32_t m = s->first[c]; m < s->first[c + 1]; m++) {
		kind->bytes += s->g->blocks->block[s->member[m]].size;
		if (leader && s->g->class[s->member[m]] == LEAK_DEFINITE)
			leader(ctx, s->member[m], kind);
	}
}

static int kind_order(const void *left, const void *right)
{
	const struct leak_cycle *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->site[0] < b->site[0] ? -1 : a->site[0] > b->site[0];
}

static void search_free(struct search *s)
{
	free(s->number);
	free(s->low);
	free(s->component);
	free(s->cursor);
	free(s->up);
	free(s->stack);
	free(s->member);
	free(s->first);
	free(s->has_way_in);
}

int leak_cycles_find(const struct leak_graph *g, struct leak_cycle **out,
	void (*leader)(void *ctx, uint32_t block, struct leak_cycle *of), void *ctx)
{
	struct search s = { .g = g };
	bool ok = allocate(&s);

	for (uint32_t i = 0; ok && i < g->blocks->count; i++)
		if (is_lost(g, i) && s.number[i] == NONE)
			search_from(&s, i);
	if (ok)
		ways_in_find(&s);
	for (uint32_t c = 0; c < s.components; c++)
		if (!s.has_way_in[c] && s.first[c + 1] - s.first[c] > 1)
			kind_add(&s, c, leader, ctx);
	search_free(&s);
	if (s.kinds > 0)
		qsort(s.kind, s.kinds, sizeof(*s.kind), kind_order);
	*out = s.kind;
	return !ok ? -ENOMEM : (int)s.kinds;
}
