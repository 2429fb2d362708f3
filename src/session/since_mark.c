/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Live blocks by the marks between which they were allocated (since_mark.h). Called by the live
 * walk, on the main thread. */
#include "src/session/since_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/sorted.h"

/* One walk. */
struct since_mark_walk {
	uint64_t *ns; /* of the moments, the oldest first */
	/* Count + 1 each. Live blocks allocated after moment i - 1 and before moment i, */
	uint64_t *blocks, *bytes;
	uint64_t *allocs; /* and all allocations between the two */
	unsigned count;
	uint64_t from_ns, to_ns; /* the span that is counted per site */
	bool by_site;
};

/* The number of moments before an allocation. */
static unsigned generation(const struct since_mark_walk *w, uint64_t ns)
{
	return (unsigned)sorted_through((struct sorted){ w->ns, w->count, sizeof(*w->ns), 0 }, ns);
}

void since_mark_group(struct since_mark *b, const struct live_group *g)
{
	struct since_mark_walk *w = b->walk;
	/* Allocation times are whole ticks; a moment within a tick comes before its allocations. */
	uint64_t ns = ((g->first + 1) << HT_TICK_SHIFT) - 1;
	unsigned at = generation(w, ns);

	w->blocks[at] += g->blocks;
	w->bytes[at] += g->bytes;
	if (!w->by_site || g->site >= b->room || ns < w->from_ns || ns >= w->to_ns)
		return;
	b->site[g->site].blocks += g->blocks;
	b->site[g->site].bytes += g->bytes;
}

/* A block may be counted before a moment although its thread's clock says after it, or the other
 * way round. Live blocks beyond the number of allocations therefore move past the moment. */
static void blocks_carry(struct since_mark_walk *w, unsigned i, uint64_t allocs)
{
	uint64_t more = w->blocks[i] > allocs ? w->blocks[i] - allocs : 0;
	uint64_t bytes =
		more ? (uint64_t)((double)w->bytes[i] / (double)w->blocks[i] * (double)more) : 0;

	w->blocks[i] -= more;
	w->blocks[i + 1] += more;
	w->bytes[i] -= bytes;
	w->bytes[i + 1] += bytes;
}

static uint64_t more_by(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void moments_carry(struct since_mark_walk *w, const struct snap_mark *last)
{
	const struct snap_mark *at = last;

	for (unsigned i = w->count; i-- > 0 && at; at = at->before)
		w->allocs[i] = more_by(at->allocs, at->before ? at->before->allocs : 0);
	for (unsigned i = 0; i < w->count; i++)
		blocks_carry(w, i, w->allocs[i]);
}

static void moments_tell(struct since_mark *b)
{
	struct since_mark_walk *w = b->walk;
	struct snap_mark *at = b->plan.marks.last;

	moments_carry(w, at);
	for (unsigned i = w->count; i-- > 0 && at;) {
		at->alive_blocks = w->blocks[i];
		at->alive_bytes = w->bytes[i];
		at = (struct snap_mark *)(uintptr_t)at->before;
	}
	b->alive_blocks = w->blocks[w->count];
	b->alive_bytes = w->bytes[w->count];
}

static bool sites_room(struct since_mark *b, const struct snapshot *s)
{
	uint32_t most = 0;
	struct since_mark_site *site;

	for (size_t i = 0; i < s->nsites; i++)
		most = s->sites[i].id > most ? s->sites[i].id : most;
	if (most >= b->room) {
		site = realloc(b->site, ((size_t)most + most / 2 + 64) * sizeof(*site));
		if (!site)
			return false;
		b->site = site;
		b->room = most + most / 2 + 64;
	}
	memset(b->site, 0, b->room * sizeof(*b->site));
	return true;
}

/* What a site allocated in the span by the time of the walk. */
static uint64_t site_of(
	const struct since_mark_plan *p, const struct snap_site *site, const struct live_allocs *at)
{
	uint64_t until;

	if (!at)
		return site->since.allocs;
	until = p->until ? mark_list_site(p->until, site->id).allocs : live_allocs_of(at, site->id);
	return more_by(until, mark_list_site(p->since, site->id).allocs);
}

/* A snapshot's counting comes before its walk, and every live block was allocated. */
static uint64_t at_least(uint64_t allocs, uint64_t alive)
{
	return allocs > alive ? allocs : alive;
}

/* After the walk: takes the counts that belong to it. */
static void walked(struct since_mark *b, const struct snapshot *s, const struct live_allocs *at)
{
	const struct snap_mark *last = b->plan.marks.last;
	uint64_t newest = at ? more_by(at->all, last ? last->allocs : 0)
			     : mark_list_between(s, last, NULL).allocs;

	b->newest_of = at_least(newest, b->alive_blocks);
	for (size_t i = 0; b->plan.since && i < s->nsites; i++)
		if (s->sites[i].id < b->room)
			b->site[s->sites[i].id].of = at_least(site_of(&b->plan, &s->sites[i], at),
				b->site[s->sites[i].id].blocks);
	b->known = true;
}

struct since_mark_plan since_mark_plan(const struct mark_list *m, const struct snapshot *s)
{
	return (struct since_mark_plan){ *m, s->since, s->until };
}

bool since_mark_differ(
	const struct since_mark *b, const struct mark_list *m, const struct snapshot *s)
{
	const struct since_mark_plan *p = &b->plan;

	return !b->known || s->since != p->since || s->until != p->until ||
	       m->last != p->marks.last;
}

static struct since_mark_walk *walk_new(const struct since_mark_plan *p)
{
	unsigned count = p->marks.count;
	size_t classes = (size_t)count + 1;
	struct since_mark_walk *w = calloc(1, sizeof(*w) + 4 * classes * sizeof(uint64_t));
	const struct snap_mark *at = p->marks.last;

	if (!w)
		return NULL;
	*w = (struct since_mark_walk){ .ns = (uint64_t *)(w + 1),
		.count = count,
		.by_site = p->since != NULL,
		.from_ns = p->since ? p->since->ns : 0,
		.to_ns = p->until ? p->until->ns : UINT64_MAX };
	w->blocks = w->ns + classes;
	w->bytes = w->blocks + classes;
	w->allocs = w->bytes + classes;
	for (unsigned i = count; i-- > 0; at = at->before)
		w->ns[i] = at->ns;
	return w;
}

int since_mark_start(
	struct since_mark *b, const struct since_mark_plan *p, const struct snapshot *s)
{
	b->known = false;
	b->plan = *p;
	b->walk = sites_room(b, s) ? walk_new(p) : NULL;
	return b->walk ? 0 : -ENOMEM;
}

void since_mark_end(
	struct since_mark *b, const struct snapshot *s, bool whole, const struct live_allocs *at)
{
	if (whole) {
		moments_tell(b);
		walked(b, s, at);
	}
	free(b->walk);
	b->walk = NULL;
}

void since_mark_fill(const struct since_mark *b, struct snapshot *s, struct snap_site *sites)
{
	s->kept = b->known && b->plan.since == s->since && b->plan.until == s->until;
	if (!s->kept)
		return;
	s->kept_until = b->plan.marks.last;
	s->newest.kept_blocks = b->alive_blocks;
	s->newest.kept_bytes = b->alive_bytes;
	s->newest.kept_of = b->newest_of;
	for (size_t i = 0; s->since && i < s->nsites; i++) {
		const struct since_mark_site *site =
			sites[i].id < b->room ? &b->site[sites[i].id] : NULL;

		if (!site)
			continue;
		sites[i].since.kept_blocks = site->blocks;
		sites[i].since.kept_bytes = site->bytes;
		sites[i].since.kept_of = site->of;
	}
}

void since_mark_free(struct since_mark *b)
{
	free(b->site);
	*b = (struct since_mark){ 0 };
}
