/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots of other moments (moment.h). Main thread. */
#include "src/model/moment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/mark_list.h"
#include "src/model/site_index.h"
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
	s->has_retained = false;
	s->typed = (struct snap_typed){ 0 };
	s->wrong = NULL;
	s->nwrong = 0;
	s->shares = NULL;
	s->nshares = 0;
}

/* ---- the peak ---- */

static bool was_live_at_peak(const struct snap_site *site)
{
	return site->at_peak_blocks > 0 || site->at_peak_bytes > 0;
}

/* `of`, with the sites of `base` that were live at its peak. NULL and errno. */
static struct snapshot *peak_derive(
	struct snapshot *of, const struct snapshot *base, struct snap_site **sites)
{
	struct snapshot *s;
	size_t count = 0, n = 0;

	if (!base->totals.has_at_peak) {
		errno = ENODATA;
		return NULL;
	}
	for (size_t i = 0; i < base->nsites; i++)
		count += was_live_at_peak(&base->sites[i]);
	s = moment_derive(of, count, sites);
	if (!s)
		return NULL;
	for (size_t i = 0; i < base->nsites; i++)
		if (was_live_at_peak(&base->sites[i]))
			site_at_peak(&(*sites)[n++], &base->sites[i]);
	s->moment = SNAP_PEAK;
	s->uptime_ns = base->totals.peak_ns;
	s->totals.live_bytes = base->totals.at_peak_bytes;
	s->totals.live_blocks = base->totals.at_peak_blocks;
	s->totals.has_mapped = false;
	moment_clear_present(s);
	return s;
}

struct snapshot *moment_peak(struct snapshot *base)
{
	struct snap_site *sites;

	return peak_derive(base, base, &sites);
}

struct snapshot *moment_peak_of_file(struct snapshot *base)
{
	struct snapshot *s = moment_peak(base);

	if (s)
		s->state = SNAP_RUNNING;
	return s;
}

static uint64_t at_least(uint64_t least, uint64_t n)
{
	return n > least ? n : least;
}

/* What was live had been allocated, if only between `then` and the peak; adds that to the totals.
 */
static void site_flows_take(
	struct snap_site *site, const struct snap_site *then, struct snap_totals *totals)
{
	static const struct snap_site none;

	then = then ? then : &none;
	site->allocs = at_least(site->live_blocks, then->allocs);
	site->alloc_bytes = at_least(site->live_bytes, then->alloc_bytes);
	site->frees = site->allocs - site->live_blocks;
	site->temporary = then->temporary;
	totals->allocs += site->allocs - then->allocs;
	totals->alloc_bytes += site->alloc_bytes - then->alloc_bytes;
}

static void totals_peak_take(struct snap_totals *t, const struct snap_totals *base)
{
	t->allocs = at_least(t->live_blocks, t->allocs);
	t->alloc_bytes = at_least(t->live_bytes, t->alloc_bytes);
	t->frees = t->allocs - t->live_blocks;
	t->free_bytes = t->alloc_bytes - t->live_bytes;
	t->peak_live_bytes = base->peak_live_bytes;
	t->peak_ns = base->peak_ns;
	t->at_peak_bytes = base->at_peak_bytes;
	t->at_peak_blocks = base->at_peak_blocks;
	t->has_at_peak = true;
}

struct snapshot *moment_peak_then(struct snapshot *base, struct snapshot *then)
{
	struct snap_site *sites;
	struct snapshot *s = peak_derive(then, base, &sites);
	struct site_index were;

	if (!s)
		return NULL;
	site_index_make(&were, then);
	for (size_t i = 0; i < s->nsites; i++)
		site_flows_take(&sites[i], site_index_find_heap(&were, sites[i].id), &s->totals);
	site_index_free(&were);
	totals_peak_take(&s->totals, &base->totals);
	s->state = SNAP_RUNNING;
	s->peak_then = true;
	return s;
}

/* What else is known of the site is of `then`, or of the base, if it came later. False: nothing is.
 */
static bool site_at_mark(struct snap_site *out, const struct snap_mark_site *at,
	const struct snap_site *known, const struct snap_site *later)
{
	if (!known && !later)
		return false;
	if (known)
		*out = *known;
	else
		*out = (struct snap_site){ .id = at->id,
			.kind = later->kind,
			.alloc_function = later->alloc_function,
			.stack = later->stack };
	out->live_bytes = at->live_bytes;
	out->live_blocks = at->live_blocks;
	out->allocs = at_least(at->live_blocks, at->allocs);
	out->alloc_bytes = at->alloc_bytes;
	out->frees = out->allocs - at->live_blocks;
	out->peak_live_bytes = at_least(at->live_bytes, out->peak_live_bytes);
	return true;
}

struct snapshot *moment_mark(
	struct snapshot *base, struct snapshot *then, const struct snap_mark *mark)
{
	struct snap_site *sites;
	struct snapshot *s = moment_derive(then, mark->nsites, &sites);
	struct site_index were, are;
	struct snap_totals *t;
	size_t n = 0;

	if (!s)
		return NULL;
	site_index_make(&were, then);
	site_index_make(&are, base);
	for (size_t i = 0; i < mark->nsites; i++)
		n += site_at_mark(&sites[n], &mark->sites[i],
			site_index_find_heap(&were, mark->sites[i].id),
			site_index_find_heap(&are, mark->sites[i].id));
	site_index_free(&were);
	site_index_free(&are);
	s->nsites = n;
	s->uptime_ns = mark->ns;
	s->now_realtime_ns = s->start_realtime_ns + mark->ns;
	s->moments = mark;
	t = &s->totals;
	t->live_bytes = mark->live_bytes;
	t->live_blocks = mark->live_blocks;
	t->allocs = at_least(mark->live_blocks, mark->allocs);
	t->alloc_bytes = at_least(mark->live_bytes, mark->alloc_bytes);
	t->frees = t->allocs - t->live_blocks;
	t->free_bytes = t->alloc_bytes - t->live_bytes;
	if (t->live_bytes > t->peak_live_bytes) {
		t->peak_live_bytes = t->at_peak_bytes = t->live_bytes;
		t->at_peak_blocks = t->live_blocks;
		t->peak_ns = mark->ns;
	}
	s->since = base->since && base->since->ns <= mark->ns ? base->since : NULL;
	s->until = s->since && base->until && base->until->ns <= mark->ns ? base->until : NULL;
	s->newest = mark_list_between(s, mark, NULL);
	mark_list_apply(s, sites);
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
