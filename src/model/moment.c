/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of other moments (moment.h). Main thread. */
#include "src/model/moment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/array.h"

struct snapshot *moment_derive_room(
	struct snapshot *base, size_t nsites, struct snap_site **sites, size_t more, void **room)
{
	/* Zeros that the kernel gives are not written again: there may be many sites. */
	size_t bytes = sizeof(struct snapshot) + nsites * sizeof(**sites) + more;
	struct snapshot *s = array_large(calloc(1, bytes), bytes);

	if (!s)
		return NULL;
	*sites = (struct snap_site *)(s + 1);
	*room = *sites + nsites;
	*s = *base;
	s->refs = 1;
	s->base = base;
	s->sites = *sites;
	s->nsites = nsites;
	snapshot_ref(base);
	return s;
}

struct snapshot *moment_derive(struct snapshot *base, size_t nsites, struct snap_site **sites)
{
	void *room;

	return moment_derive_room(base, nsites, sites, 0, &room);
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

void moment_clear_present(struct snapshot *s)
{
	struct snap_totals *t = &s->totals;

	s->rates_ns = 0;
	s->proc.minor_faults_per_s = s->proc.major_faults_per_s = 0;
	t->allocs_per_s = t->frees_per_s = t->reallocs_per_s = t->growth_bytes_per_s = 0;
	t->mapped_per_s = 0;
	t->has_faults = false;
	s->mapped = NULL;
	s->nmapped = 0;
	s->has_alive = false;
	s->kept = false;
	s->range = NULL;
	s->leaks = NULL;
	s->wrong = NULL;
	s->nwrong = 0;
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
	s->totals.has_mapped = false;
	moment_clear_present(s);
	return s;
}

static void site_alone(struct snap_site *site)
{
	site->allocs = site->live_blocks;
	site->alloc_bytes = site->live_bytes;
	site->frees = site->temporary = 0;
}

static void totals_alone(struct snap_totals *t)
{
	t->allocs = t->live_blocks;
	t->alloc_bytes = t->live_bytes;
	t->frees = t->free_bytes = t->reallocs = t->temporary = 0;
}

void moment_alone(struct snapshot *s, struct snap_site *sites, char notice[MOMENT_NOTICE_MAX])
{
	char at[UNITS_MAX];

	for (size_t i = 0; i < s->nsites; i++) {
		sites[i] = s->sites[i];
		site_alone(&sites[i]);
	}
	s->sites = sites;
	totals_alone(&s->totals);
	/* It ran then, however it ended: these blocks are not unfreed. */
	s->state = SNAP_RUNNING;
	s->now_realtime_ns = s->start_realtime_ns + s->uptime_ns;
	memset(s->sizes, 0, sizeof(s->sizes));
	memset(s->lifetimes, 0, sizeof(s->lifetimes));
	s->proc = (struct snap_proc){ 0 };
	s->nthreads = 0;
	if (s->history_step_ns && s->history_points > s->uptime_ns / s->history_step_ns + 1)
		s->history_points = (unsigned)(s->uptime_ns / s->history_step_ns) + 1;
	while (s->moments && s->moments->ns > s->uptime_ns)
		s->moments = s->moments->before;
	s->since = s->until = NULL;
	snprintf(notice, MOMENT_NOTICE_MAX,
		"this is the program's peak, at %s: only what was live then is known",
		units_duration(at, s->uptime_ns));
	s->notice = notice;
}
