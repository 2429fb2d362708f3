/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The births of blocks that live (births.h). Called by the marks once a tick, on the main thread.
 */
#include "src/births.h"

#include <stdlib.h>
#include <string.h>
#include "shm/poisson.h"
#include "src/util/clock.h"

#define SHARE 50u /* of the time, a walk may take 1/50 */

/* One walk. */
struct walk {
	struct births *b;
	uint64_t *ns; /* of the moments, the oldest first */
	uint64_t *blocks, *bytes; /* born before moment i, after the one before; count + 1 */
	unsigned count;
	uint64_t from_ns, to_ns; /* what is counted by site */
	bool by_site;
};

/* How many moments were before a birth. */
static unsigned generation(const struct walk *w, uint64_t ns)
{
	unsigned low = 0, high = w->count;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (w->ns[mid] <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void block_visit(void *ctx, const struct read_block *block)
{
	struct walk *w = ctx;
	struct poisson_weight weight = poisson_weight(block->addr, block->size, block->rate);
	/* A birth is a tick; a moment inside it comes before what was born in it. */
	uint64_t ns = ((block->tick + 1) << HT_TICK_SHIFT) - 1;
	unsigned at = generation(w, ns);

	w->blocks[at] += weight.blocks;
	w->bytes[at] += weight.bytes;
	if (!w->by_site || block->site >= w->b->room || ns < w->from_ns || ns >= w->to_ns)
		return;
	w->b->site[block->site].blocks += weight.blocks;
	w->b->site[block->site].bytes += weight.bytes;
}

static void moments_tell(const struct walk *w, const struct moments *m)
{
	struct snap_moment *at = m->last;

	for (unsigned i = w->count; i-- > 0 && at;) {
		at->alive_blocks = w->blocks[i];
		at->alive_bytes = w->bytes[i];
		at = (struct snap_moment *)(uintptr_t)at->before;
	}
	w->b->alive_blocks = w->blocks[w->count];
	w->b->alive_bytes = w->bytes[w->count];
}

static bool sites_room(struct births *b, const struct snapshot *s)
{
	uint32_t most = 0;
	struct births_site *site;

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

/* After the walk: the counts that go with it. */
static void walked(struct births *b, const struct moments *m, const struct snapshot *s)
{
	b->since = s->since;
	b->until = s->until;
	b->last = m->last;
	b->of = moments_between(s, m->last, NULL).allocs;
	for (size_t i = 0; i < s->nsites; i++)
		if (s->sites[i].id < b->room)
			b->site[s->sites[i].id].of = s->sites[i].since.allocs;
	b->known = true;
}

static void walk(struct births *b, struct read_segment *segment, const struct moments *m,
	const struct snapshot *s)
{
	struct walk w = { .b = b,
		.count = m->count,
		.by_site = s->since != NULL,
		.from_ns = s->since ? s->since->ns : 0,
		.to_ns = s->until ? s->until->ns : UINT64_MAX };
	uint64_t *all = calloc(3 * ((size_t)m->count + 1), sizeof(*all));
	const struct snap_moment *at = m->last;

	b->known = false;
	if (!all || !sites_room(b, s)) {
		free(all);
		return;
	}
	w.ns = all;
	w.blocks = all + m->count + 1;
	w.bytes = w.blocks + m->count + 1;
	for (unsigned i = m->count; i-- > 0; at = at->before)
		w.ns[i] = at->ns;
	if (read_blocks(segment, block_visit, &w) >= 0) {
		moments_tell(&w, m);
		walked(b, m, s);
	}
	free(all);
}

void births_look(struct births *b, struct read_segment *segment, const struct moments *m,
	const struct snapshot *s, uint64_t now_ns)
{
	bool other = s->since != b->since || s->until != b->until || m->last != b->last;

	if (!m->last || (!other && now_ns < b->due_ns))
		return;
	walk(b, segment, m, s);
	b->due_ns = now_ns + (clock_monotonic_ns() - now_ns) * SHARE;
}

void births_tell(const struct births *b, struct snapshot *s, struct snap_site *sites)
{
	s->kept = b->known && b->since == s->since && b->until == s->until;
	if (!s->kept)
		return;
	s->newest.kept_blocks = b->alive_blocks;
	s->newest.kept_bytes = b->alive_bytes;
	s->newest.kept_of = b->of;
	for (size_t i = 0; s->since && i < s->nsites; i++) {
		const struct births_site *site =
			sites[i].id < b->room ? &b->site[sites[i].id] : NULL;

		if (!site)
			continue;
		sites[i].since.kept_blocks = site->blocks;
		sites[i].since.kept_bytes = site->bytes;
		sites[i].since.kept_of = site->of;
	}
}

void births_free(struct births *b)
{
	free(b->site);
	*b = (struct births){ 0 };
}
