/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of other moments (moment.h). Main thread. */
#include "src/model/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct snapshot *moment_derive(struct snapshot *base, size_t nsites, struct snap_site **sites)
{
	struct snapshot *s = malloc(sizeof(*s) + nsites * sizeof(**sites));

	if (!s)
		return NULL;
	*sites = (struct snap_site *)(s + 1);
	memset(*sites, 0, nsites * sizeof(**sites));
	*s = *base;
	s->refs = 1;
	s->base = base;
	s->sites = *sites;
	s->nsites = nsites;
	snapshot_ref(base);
	return s;
}

static void site_at_peak(struct snap_site *out, const struct snap_site *in)
{
	*out = (struct snap_site){ .id = in->id,
		.alloc_function = in->alloc_function,
		.stack = in->stack,
		.live_bytes = in->at_peak_bytes,
		.live_blocks = in->at_peak_blocks,
		.allocs = in->allocs,
		.frees = in->frees,
		.alloc_bytes = in->alloc_bytes,
		.peak_live_bytes = in->peak_live_bytes,
		.at_peak_bytes = in->at_peak_bytes,
		.at_peak_blocks = in->at_peak_blocks,
		.temporary = in->temporary };
}

/* What is true only now. */
static void present_clear(struct snapshot *s)
{
	struct snap_totals *t = &s->totals;

	s->rates_ns = 0;
	t->allocs_per_s = t->frees_per_s = t->reallocs_per_s = t->growth_bytes_per_s = 0;
	s->has_alive = false;
	s->kept = false;
	s->leaks = NULL;
	s->shares = NULL;
	s->nshares = 0;
}

struct snapshot *moment_peak(struct snapshot *base)
{
	struct snap_site *sites;
	struct snapshot *s;
	size_t count = 0;

	if (!base->totals.has_at_peak) {
		errno = ENODATA;
		return NULL;
	}
	for (size_t i = 0; i < base->nsites; i++)
		count += base->sites[i].at_peak_blocks > 0 || base->sites[i].at_peak_bytes > 0;
	s = moment_derive(base, count, &sites);
	if (!s)
		return NULL;
	for (size_t i = 0, n = 0; i < base->nsites; i++)
		if (base->sites[i].at_peak_blocks > 0 || base->sites[i].at_peak_bytes > 0)
			site_at_peak(&sites[n++], &base->sites[i]);
	s->moment = SNAP_PEAK;
	s->uptime_ns = base->totals.peak_ns;
	s->totals.live_bytes = base->totals.at_peak_bytes;
	s->totals.live_blocks = base->totals.at_peak_blocks;
	present_clear(s);
	return s;
}
