/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live blocks in groups (live_group.h). */
#include "src/session/live_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/layout.h"
#include "shm/poisson.h"
#include "src/util/sorted.h"

#define SLOTS_FIRST 1024u
#define TICK_MAX    (UINT64_MAX >> HT_TICK_SHIFT)
#define GROUPS_MAX  (1u << 20) /* some 100 MB, on the machine of the program */
#define SUM_MAX	    (UINT64_MAX >> 8)

struct live_group live_group_of(const struct read_block *b)
{
	struct live_group g = { b->site, b->slot, b->counter, b->tick, b->tick, 1, b->size };
	struct poisson_weight w;

	if (b->rate == 0) /* mostly */
		return g;
	w = poisson_weight(b->addr, b->size, b->rate);
	g.blocks = w.blocks;
	g.bytes = w.bytes;
	return g;
}

/* ---- cuts --------------------------------------------------------------------------------- */

void live_cuts_add(struct live_cuts *c, uint32_t site, uint64_t tick)
{
	if (c->count == LIVE_CUTS_MAX)
		c->full = true;
	else
		c->cut[c->count++] = (struct live_cut){ site, tick };
}

void live_cuts_put(struct bytes *b, const struct live_cuts *c)
{
	bytes_number(b, c->count);
	for (unsigned i = 0; i < c->count; i++) {
		bytes_number(b, (uint32_t)(c->cut[i].site + 1)); /* 0: of all */
		bytes_number(b, c->cut[i].tick);
	}
}

int live_cuts_get(struct bytes_cursor *c, struct live_cuts *out)
{
	out->full = false;
	out->count = (unsigned)bytes_read_below(c, LIVE_CUTS_MAX);
	for (unsigned i = 0; i < out->count; i++) {
		out->cut[i].site = (uint32_t)bytes_read_below(c, HT_SITES_MAX) - 1;
		out->cut[i].tick = bytes_read_below(c, TICK_MAX);
	}
	return c->bad ? -EPROTO : 0;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* The cuts of one site, those of all included, in order. */
struct site_cuts {
	const uint64_t *tick;
	unsigned count;
};

struct live_groups {
	uint64_t *ticks; /* owned; of all site_cuts */
	struct site_cuts *cuts; /* owned; the first has only those of all */
	uint16_t *which; /* owned; by site: index into cuts, */
	uint32_t sites; /* below this one; others have the cuts of all */
	/* A hash of groups by counter and span; empty slots have no blocks. */
	struct live_group *group; /* owned */
	uint16_t *span; /* owned; of each slot: cuts before it */
	size_t slots, count;
	bool failed;
};

static int order_of(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int cut_order(const void *a, const void *b)
{
	return order_of(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Lays out the cuts of `site` behind those before. Returns their number. */
static unsigned ticks_of(const struct live_cuts *c, uint32_t site, uint64_t *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (c->cut[i].site == LIVE_CUT_ALL || c->cut[i].site == site)
			out[n++] = c->cut[i].tick;
	qsort(out, n, sizeof(*out), cut_order);
	return n;
}

static void cuts_lay_out(struct live_groups *g, const struct live_cuts *c)
{
	uint64_t *at = g->ticks;
	uint16_t lists = 1;

	g->cuts[0] = (struct site_cuts){ at, ticks_of(c, LIVE_CUT_ALL, at) };
	at += g->cuts[0].count;
	for (unsigned i = 0; i < c->count; i++) {
		uint32_t site = c->cut[i].site;

		if (site >= g->sites || g->which[site] != 0)
			continue;
		g->cuts[lists] = (struct site_cuts){ at, ticks_of(c, site, at) };
		at += g->cuts[lists].count;
		g->which[site] = lists++;
	}
}

/* Room for the ticks of all lists. */
static size_t ticks_room(const struct live_cuts *c)
{
	size_t all = 0, own = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (c->cut[i].site == LIVE_CUT_ALL)
			all++;
		else
			own++;
	/* At most as many lists as cuts that are of one site, and one more. */
	return (own + 1) * all + own + 1;
}

static bool slots_make(struct live_groups *g, size_t slots)
{
	g->group = calloc(slots, sizeof(*g->group));
	g->span = calloc(slots, sizeof(*g->span));
	g->slots = slots;
	return g->group && g->span;
}

/* All that have cuts of their own are below it. */
static uint32_t sites_of(const struct live_cuts *c)
{
	uint32_t sites = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (c->cut[i].site != LIVE_CUT_ALL && c->cut[i].site >= sites)
			sites = c->cut[i].site + 1;
	return sites;
}

struct live_groups *live_groups_new(const struct live_cuts *c)
{
	struct live_groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->sites = sites_of(c);
	g->ticks = calloc(ticks_room(c), sizeof(*g->ticks));
	g->cuts = calloc((size_t)c->count + 1, sizeof(*g->cuts));
	g->which = calloc((size_t)g->sites + 1, sizeof(*g->which));
	if (g->ticks && g->cuts && g->which && slots_make(g, SLOTS_FIRST)) {
		cuts_lay_out(g, c);
		return g;
	}
	live_groups_free(g);
	return NULL;
}

void live_groups_free(struct live_groups *g)
{
	if (!g)
		return;
	free(g->ticks);
	free(g->cuts);
	free(g->which);
	free(g->group);
	free(g->span);
	free(g);
}

/* The slot of the group of a counter and a span, or the empty one where it belongs. */
static size_t slot_of(const struct live_groups *g, uint32_t counter, uint16_t span)
{
	uint64_t hash = ((uint64_t)counter << 16 | span) * 0x9e3779b97f4a7c15ull;
	size_t slot = (size_t)(hash >> 32) & (g->slots - 1);

	while (g->group[slot].blocks != 0 &&
		(g->group[slot].counter != counter || g->span[slot] != span))
		slot = (slot + 1) & (g->slots - 1);
	return slot;
}

static bool slots_grow(struct live_groups *g)
{
	struct live_groups old = *g;

	if (!slots_make(g, 2 * old.slots)) {
		free(g->group);
		free(g->span);
		g->group = old.group;
		g->span = old.span;
		g->slots = old.slots;
		return false;
	}
	for (size_t i = 0; i < old.slots; i++)
		if (old.group[i].blocks != 0) {
			size_t slot = slot_of(g, old.group[i].counter, old.span[i]);

			g->group[slot] = old.group[i];
			g->span[slot] = old.span[i];
		}
	free(old.group);
	free(old.span);
	return true;
}

/* The number of cuts up to a tick. */
static uint16_t span_of(const struct site_cuts *c, uint64_t tick)
{
	return (uint16_t)sorted_through(
		(struct sorted){ c->tick, c->count, sizeof(*c->tick), 0 }, tick);
}

static void group_join(struct live_group *to, const struct live_group *from)
{
	to->first = from->first < to->first ? from->first : to->first;
	to->last = from->last > to->last ? from->last : to->last;
	to->blocks += from->blocks;
	to->bytes += from->bytes;
}

bool live_groups_add(struct live_groups *g, const struct read_block *b)
{
	const struct live_group one = live_group_of(b);
	uint16_t span = span_of(&g->cuts[b->site < g->sites ? g->which[b->site] : 0], b->tick);
	size_t slot = slot_of(g, b->counter, span);

	if (g->group[slot].blocks != 0) {
		group_join(&g->group[slot], &one);
		return true;
	}
	if (g->count >= g->slots / 2) {
		if (g->count >= GROUPS_MAX || !slots_grow(g))
			return !(g->failed = true);
		slot = slot_of(g, b->counter, span);
	}
	g->group[slot] = one;
	g->span[slot] = span;
	g->count++;
	return true;
}

/* ---- as bytes ----------------------------------------------------------------------------- */

static int group_order(const void *a, const void *b)
{
	const struct live_group *x = a, *y = b;

	return x->counter != y->counter ? order_of(x->counter, y->counter)
					: order_of(x->first, y->first);
}

static void group_put(struct bytes *b, const struct live_group *g, uint32_t before)
{
	bytes_number(b, g->counter - before);
	bytes_number(b, g->site);
	bytes_number(b, g->slot);
	bytes_number(b, g->first);
	bytes_number(b, g->last - g->first);
	bytes_number(b, g->blocks);
	bytes_number(b, g->bytes);
}

void live_groups_put(struct bytes *b, struct live_groups *g)
{
	uint32_t before = 0;
	size_t n = 0;

	for (size_t i = 0; i < g->slots; i++)
		if (g->group[i].blocks != 0)
			g->group[n++] = g->group[i];
	qsort(g->group, n, sizeof(*g->group), group_order);
	bytes_number(b, n);
	for (size_t i = 0; i < n; i++) {
		group_put(b, &g->group[i], before);
		before = g->group[i].counter;
	}
	b->failed |= g->failed;
}

static struct live_group group_get(struct bytes_cursor *c, uint32_t before)
{
	struct live_group g = { .counter = before + (uint32_t)bytes_read_below(
							    c, HT_COUNTERS_MAX - 1 - before) };

	g.site = (uint32_t)bytes_read_below(c, HT_SITES_MAX - 1);
	g.slot = (uint32_t)bytes_read_below(c, HT_SLOTS_MAX - 1);
	g.first = bytes_read_below(c, TICK_MAX);
	g.last = g.first + bytes_read_below(c, TICK_MAX - g.first);
	g.blocks = bytes_read_below(c, SUM_MAX);
	g.bytes = bytes_read_below(c, SUM_MAX);
	return g;
}

int live_groups_each(
	struct bytes_cursor c, void (*visit)(void *ctx, const struct live_group *g), void *ctx)
{
	struct live_group g = { 0 };
	uint64_t left = bytes_read(&c);

	for (; left > 0 && !c.bad; left--) {
		g = group_get(&c, g.counter);
		if (!c.bad)
			visit(ctx, &g);
	}
	return c.bad || c.at < c.end ? -EPROTO : 0;
}
