/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over all live blocks (live_walk.h). */
#include "src/session/live_walk.h"

#include "src/session/threads.h"
#include "src/util/clock.h"

#define SHARE	    50u /* walks may take 1/50 of the time, */
#define SHARE_SELF  200u /* and those that no view asked for 1/200 */
#define BLOCKS_MOST 16000000u /* more would stop the screen for half a second: no such walk */
#define SITE_TICKS  3u /* a view that shows a site asks each tick */
#define LOOKED_NS   1000000000u /* a first tick so early means: watched from the start */

/* What this walk is for. */
struct walk {
	struct live_walk *v;
	bool ages, births, classes, retention, alive;
};

static void block_visit(void *ctx, const struct read_block *b)
{
	struct walk *w = ctx;

	if (w->ages)
		age_classes_block(&w->v->ages, b);
	if (w->births)
		since_mark_block(&w->v->births, b);
	if (w->classes)
		age_classes_block_class(&w->v->ages, b);
	if (w->retention)
		retention_block(&w->v->retention, b);
	if (w->alive)
		live_by_thread_block(&w->v->alive, b);
}

static bool classes_start(
	struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	const struct snap_site *site = snapshot_site(s, v->site);
	struct growth_span span[GROWTH_SPANS];
	unsigned spans = site ? model_site_spans(of->model, v->site, span) : 0;

	if (site)
		age_classes_start_classes(
			&v->ages, v->site, site->allocs, span, spans, of->created_ns);
	return site != NULL;
}

static bool classes_end(struct live_walk *v, const struct live_walk_of *of)
{
	struct read_site site = { 0 };

	if (read_sites(of->segment, v->site, &site, 1) != 1)
		return false;
	age_classes_end_classes(&v->ages, site.allocs);
	return true;
}

static bool asked(const struct walk *w)
{
	return w->ages || w->births || w->classes || w->alive;
}

static void walk(struct walk *w, const struct live_walk_of *of, const struct snapshot *s)
{
	struct live_walk *v = w->v;
	uint64_t start = clock_monotonic_ns();
	bool whole;

	v->ages.known = v->ages.has_classes = v->retention.known = v->alive.known = false;
	w->ages = w->ages && age_classes_start(&v->ages, of->sites) == 0;
	w->births = w->births && since_mark_start(&v->births, of->moments, s) == 0;
	w->classes = w->classes && classes_start(v, of, s);
	w->retention = w->retention && retention_start(&v->retention, s, of->sites) == 0;
	w->alive = w->alive && live_by_thread_start(&v->alive, of->segment, v->site) == 0;
	whole = read_blocks(of->segment, block_visit, w) >= 0;
	v->ages.known = whole && w->ages;
	v->ages.has_classes = whole && w->classes && classes_end(v, of);
	if (whole && w->alive)
		live_by_thread_end(&v->alive, start);
	if (w->births)
		since_mark_end(&v->births, of->moments, s, whole);
	v->retention.known = whole && w->retention;
	v->is_last = of->ended;
	v->due_ns = start + (clock_monotonic_ns() - start) * (asked(w) ? SHARE : SHARE_SELF);
}

void live_walk_update(struct live_walk *v, const struct live_walk_of *of, struct snapshot *s)
{
	struct snap_site *sites = (struct snap_site *)(uintptr_t)s->sites;
	struct walk w = { .v = v,
		.ages = age_classes_wanted(),
		.births = of->moments->last != NULL,
		.classes = v->site_ticks > 0,
		.retention = s->totals.live_blocks <= BLOCKS_MOST && retention_wanted(s),
		.alive = v->site_ticks > 0 || threads_wanted() };
	/* What the last walk did not count is not made to wait for the next one; nor is the
	 * program's end. */
	bool ended = of->ended && !v->is_last && (asked(&w) || w.retention);
	bool anew = ended || (w.ages && !v->ages.known) || (w.alive && !v->alive.known) ||
		    (w.births && since_mark_differ(&v->births, of->moments, s)) ||
		    (w.classes && (!v->ages.has_classes || v->ages.classes_of != v->site));

	v->site_ticks -= v->site_ticks > 0;
	if (!w.ages)
		v->ages.known = false;
	if (!w.alive)
		v->alive.known = false;
	if (anew || ((asked(&w) || w.retention) && clock_monotonic_ns() >= v->due_ns))
		walk(&w, of, s);
	age_classes_fill(&v->ages, s, sites);
	retention_fill(&v->retention, s, sites);
	live_by_thread_fill(&v->alive, s);
	if (v->is_last)
		s->alive_age_ns = 0; /* nothing changes any more */
	if (w.births)
		since_mark_fill(&v->births, s, sites);
}

/* ---- one site ----------------------------------------------------------------------------- */

static uint64_t age_at(uint64_t ns, uint64_t uptime_ns)
{
	return uptime_ns > ns ? uptime_ns - ns : 0;
}

static void class_join(struct snap_age *to, const struct age_classes_class *c, uint64_t uptime_ns)
{
	to->oldest_ns = age_at(c->from_ns, uptime_ns);
	to->allocs += c->allocs;
	to->alive_blocks += c->blocks;
	to->alive_bytes += c->bytes;
}

/* The class began after the program's end, or just now. */
static bool class_is_void(const struct age_classes_class *c, uint64_t uptime_ns)
{
	return c->from_ns >= uptime_ns && c->allocs == 0 && c->blocks == 0;
}

static bool class_is_before(const struct age_classes_class *c, uint64_t uptime_ns)
{
	return c->to_ns >= LOOKED_NS && c->to_ns < uptime_ns;
}

/* Classes go backwards from now, or from the end, each twice as long as the one before; the last
 * one is what came before heaptop watched. */
void live_walk_detail(
	struct live_walk *v, uint32_t site, uint64_t uptime_ns, struct snap_detail *out)
{
	unsigned left, oldest, take = 2; /* the newest may have begun just now */

	v->site = site;
	v->site_ticks = SITE_TICKS;
	out->has_ages = v->ages.has_classes && v->ages.classes_of == site;
	left = out->has_ages ? v->ages.classes : 0;
	while (left > 1 && class_is_void(&v->ages.class[left - 1], uptime_ns))
		left--;
	/* No line for an empty time before heaptop watched. */
	oldest = left > 1 && v->ages.class[0].allocs == 0;
	for (out->nages = 0; left > oldest && out->nages < SNAP_AGES; out->nages++) {
		struct snap_age *age = &out->age[out->nages];

		*age = (struct snap_age){ .is_before = left == 1 &&
						       class_is_before(v->ages.class, uptime_ns),
			.youngest_ns = age_at(v->ages.class[left - 1].to_ns, uptime_ns) };
		if (left == 1)
			class_join(age, &v->ages.class[--left], uptime_ns);
		for (unsigned i = 0; i < take && left > 1; i++)
			class_join(age, &v->ages.class[--left], uptime_ns);
		take *= out->nages > 0 ? 2 : 1;
	}
}

void live_walk_free(struct live_walk *v)
{
	age_classes_free(&v->ages);
	since_mark_free(&v->births);
	retention_free(&v->retention);
	live_by_thread_free(&v->alive);
}
