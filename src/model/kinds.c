/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of memory (kinds.h). Main thread. */
#include "src/model/kinds.h"

#include <string.h>

#include "src/model/moment.h"

const char *kinds_word(enum kinds kinds)
{
	static const char *const words[KINDS_COUNT] = { "heap", "mapped", "heap + mapped",
		"pools" };

	return words[kinds];
}

static bool is_shown(const struct snap_site *site, enum kinds kinds)
{
	return (site->kind == SNAP_POOL) == (kinds == KINDS_POOL);
}

static size_t count_of(const struct snapshot *s, enum kinds kinds)
{
	size_t count = 0;

	for (size_t i = 0; i < s->nmapped; i++)
		count += is_shown(&s->mapped[i], kinds);
	return count;
}

bool kinds_has(const struct snapshot *s, enum kinds kinds)
{
	if (kinds == KINDS_HEAP)
		return true;
	return s->kinds == KINDS_HEAP && s->totals.has_mapped && count_of(s, kinds) > 0;
}

enum kinds kinds_next(const struct snapshot *s, enum kinds kinds)
{
	const struct snapshot *of = s->kinds == KINDS_HEAP ? s : s->base;

	do {
		kinds = (kinds + 1) % KINDS_COUNT;
	} while (!kinds_has(of, kinds));
	return kinds;
}

/* What only the heap has: threads, histograms, history, rates of calls. */
static void heap_clear(struct snapshot *s)
{
	memset(s->sizes, 0, sizeof(s->sizes));
	memset(s->lifetimes, 0, sizeof(s->lifetimes));
	s->history_points = 0;
	s->threads = NULL;
	s->nthreads = 0;
	s->shares = NULL;
	s->nshares = 0;
	s->has_alive = s->kept = false;
	s->since = s->until = s->moments = NULL;
	s->leaks = NULL;
}

static void totals_mapped(struct snap_totals *t)
{
	t->allocs = t->maps;
	t->frees = t->unmaps;
	t->reallocs = 0;
	t->alloc_bytes = t->map_bytes;
	t->free_bytes = t->unmap_bytes;
	t->live_blocks = t->mapped_blocks;
	t->live_bytes = t->mapped_bytes;
	t->peak_live_bytes = t->mapped_peak_bytes;
	t->peak_ns = t->mapped_peak_ns;
	t->allocs_per_s = t->frees_per_s = t->reallocs_per_s = 0;
	t->growth_bytes_per_s = t->mapped_per_s;
	t->temporary = t->at_peak_bytes = t->at_peak_blocks = 0;
	t->has_at_peak = false;
}

static void totals_pool(struct snap_totals *t, const struct snap_site *sites, size_t count)
{
	struct snap_totals sum = { .live_bytes = t->pool_bytes,
		.live_blocks = t->pool_blocks,
		.peak_live_bytes = t->pool_peak_bytes };

	for (size_t i = 0; i < count; i++) {
		sum.allocs += sites[i].allocs;
		sum.frees += sites[i].frees;
		sum.alloc_bytes += sites[i].alloc_bytes;
		sum.growth_bytes_per_s += sites[i].rate_bytes_per_s;
	}
	sum.free_bytes = sum.alloc_bytes - sum.live_bytes;
	*t = sum;
}

/* The heap's peak and the mappings' were not at one moment: the sum of both is a bound. */
static void totals_add(struct snap_totals *t)
{
	t->allocs += t->maps;
	t->frees += t->unmaps;
	t->alloc_bytes += t->map_bytes;
	t->free_bytes += t->unmap_bytes;
	t->live_blocks += t->mapped_blocks;
	t->live_bytes += t->mapped_bytes;
	t->peak_live_bytes += t->mapped_peak_bytes;
	t->growth_bytes_per_s += t->mapped_per_s;
	t->at_peak_bytes = t->at_peak_blocks = 0;
	t->has_at_peak = false;
}

struct snapshot *kinds_take(struct snapshot *s, enum kinds kinds)
{
	size_t heap = kinds == KINDS_BOTH ? s->nsites : 0, n = heap;
	struct snapshot *made;
	struct snap_site *sites;

	if (kinds == KINDS_HEAP || !kinds_has(s, kinds))
		return s;
	made = moment_derive(s, heap + count_of(s, kinds), &sites);
	if (!made)
		return s;
	if (heap)
		memcpy(sites, s->sites, heap * sizeof(*sites));
	for (size_t i = 0; i < s->nmapped; i++)
		if (is_shown(&s->mapped[i], kinds))
			sites[n++] = s->mapped[i];
	made->kinds = kinds;
	made->mapped = NULL; /* they are sites */
	made->nmapped = 0;
	if (kinds == KINDS_BOTH) {
		totals_add(&made->totals);
	} else {
		heap_clear(made);
		if (kinds == KINDS_MAPPED)
			totals_mapped(&made->totals);
		else
			totals_pool(&made->totals, sites, n);
	}
	snapshot_unref(s);
	return made;
}
