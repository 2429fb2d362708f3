/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over all live blocks (live_walk.h). */
#include "src/session/live_walk.h"

#include <stdlib.h>

#include "src/session/live_allocs.h"
#include "src/session/live_far.h"
#include "src/session/threads.h"
#include "src/util/clock.h"

#define SHARE	    50u /* walks may take 1/50 of the time, */
#define SHARE_SELF  200u /* and those that no view asked for 1/200 */
#define SHARE_FAR   4u /* by an agent: of the time from asking for one to its answer */
#define BLOCKS_MOST 16000000u /* more would stop the screen for half a second: no such walk */
#define SITE_TICKS  3u /* a view that shows a site asks each tick */
#define LOOKED_NS   1000000000u /* a first tick so early means: watched from the start */
#define FAILED_NS   UINT64_C(2000000000) /* from a walk that was refused to the next */

/* ---- one walk ----------------------------------------------------------------------------- */

static void group_visit(void *ctx, const struct live_group *g)
{
	struct live_walk *v = ctx;
	const struct live_wants *w = &v->plan.wants;

	if (w->ages)
		age_classes_group(&v->ages, g);
	if (w->births)
		since_mark_group(&v->births, g);
	if (w->classes)
		age_classes_group_class(&v->ages, g);
	if (w->retention)
		retention_group(&v->retention, g);
	if (w->alive)
		live_by_thread_group(&v->alive, g);
}

static void block_visit(void *ctx, const struct read_block *b)
{
	const struct live_group g = live_group_of(b);

	group_visit(ctx, &g);
}

/* What was planned to be retained takes the place of the last walk's. */
static void retention_begin(struct live_walk *v)
{
	struct retention *planned = &v->plan.retains;
	uint8_t *which = v->retention.which;
	uint32_t room = v->retention.room;

	v->retention = *planned;
	planned->which = which;
	planned->room = room;
}

/* Before the groups. What has no memory is left out. */
static void walk_begin(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	struct live_plan *p = &v->plan;

	v->ages.known = v->ages.has_classes = v->retention.known = v->alive.known = false;
	p->wants.ages = p->wants.ages && age_classes_start(&v->ages, of->sites) == 0;
	p->wants.births = p->wants.births && since_mark_start(&v->births, &p->marks, s) == 0;
	if (p->wants.classes)
		age_classes_start_classes(
			&v->ages, p->site, p->allocs, p->span, p->spans, of->created_ns);
	if (p->wants.retention)
		retention_begin(v);
	p->wants.alive =
		p->wants.alive && live_by_thread_start(&v->alive, of->segment, v->site) == 0;
}

/* How a walk went. */
struct walked {
	bool whole; /* it saw all blocks */
	const uint64_t *allocs; /* of the plan's site, by its end; NULL: unknown */
	const struct live_allocs *all; /* of all sites; NULL: as in the snapshot */
};

/* After them. */
static void walk_end(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s,
	const struct walked *w)
{
	const struct live_plan *p = &v->plan;
	bool whole = w->whole;

	v->ages.known = whole && p->wants.ages;
	v->ages.has_classes = whole && p->wants.classes && w->allocs;
	if (v->ages.has_classes)
		age_classes_end_classes(&v->ages, *w->allocs);
	if (whole && p->wants.alive)
		live_by_thread_end(&v->alive, p->made_ns);
	if (p->wants.births)
		since_mark_end(&v->births, s, whole, w->all);
	v->retention.known = whole && p->wants.retention;
	v->is_last = p->wants.ended;
}

static bool asked(const struct live_wants *w)
{
	return w->ages || w->births || w->classes || w->alive;
}

/* Completes the plan; what it cannot be for is left out. */
static void plan_make(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	struct live_plan *p = &v->plan;

	p->made_ns = clock_monotonic_ns();
	p->wants.classes = p->wants.classes && live_plan_classes(p, of->model, s, v->site);
	p->wants.retention = p->wants.retention && retention_start(&p->retains, s, of->sites) == 0;
	p->marks = since_mark_plan(of->moments, s);
}

static void walk_here(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	struct live_plan *p = &v->plan;
	struct read_site site = { 0 };
	struct walked w = { 0 };

	plan_make(v, of, s);
	walk_begin(v, of, s);
	w.whole = read_blocks(of->segment, block_visit, v) >= 0;
	if (p->wants.classes && read_sites(of->segment, p->site, &site, 1) == 1)
		w.allocs = &site.allocs;
	walk_end(v, of, s, &w);
	v->due_ns = p->made_ns +
		    (clock_monotonic_ns() - p->made_ns) * (asked(&p->wants) ? SHARE : SHARE_SELF);
}

/* ---- by an agent -------------------------------------------------------------------------- */

static void walk_ask(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	struct live_plan *p = &v->plan;
	struct live_request *r = malloc(sizeof(*r));

	plan_make(v, of, s);
	if (!r)
		return;
	r->has_site = p->wants.classes;
	r->site = p->site;
	live_plan_cuts(p, of->created_ns, &r->cuts);
	p->wants.births = p->wants.births && !r->cuts.full;
	r->all = p->wants.births;
	v->is_asked = live_far_begin(of->far, r) == 0;
	free(r);
}

/* 1: the answer is there; 0: not yet; -errno. */
static int answer_await(const struct live_walk_of *of, struct live_answer *out)
{
	int rc;

	do
		rc = live_far_take(of->far, of->waits ? FAR_ORDER_WAIT_MS : 0, out);
	while (rc == 0 && of->waits);
	return rc;
}

/* An agent's walk, which was not made after now. */
static uint64_t walked_at(uint64_t ns)
{
	uint64_t now = clock_monotonic_ns();

	return ns < now ? ns : now;
}

/* The snapshot is of some ticks after the walk. */
static void answer_use(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s,
	const struct live_answer *answer)
{
	struct live_wants *wants = &v->plan.wants;
	struct live_allocs all = { 0 };
	struct walked w = { .allocs = answer->has_allocs ? &answer->allocs : NULL, .all = &all };

	wants->births = wants->births && live_allocs_get(answer->all, &all) == 0;
	walk_begin(v, of, s);
	w.whole = live_groups_each(answer->groups, group_visit, v) == 0;
	walk_end(v, of, s, &w);
	live_allocs_free(&all);
}

/* The groups of an answer are for what was planned and is still wanted. */
static void walk_there(struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s,
	const struct live_wants *wanted)
{
	struct live_plan *p = &v->plan;
	struct live_answer answer;
	int rc = answer_await(of, &answer);

	if (rc == 0)
		return;
	v->is_asked = false;
	v->due_ns = p->made_ns +
		    (clock_monotonic_ns() - p->made_ns) *
			    (asked(&p->wants) ? SHARE_FAR : SHARE_FAR * SHARE_SELF / SHARE);
	v->failed = rc < 0;
	if (rc < 0) {
		v->due_ns = clock_monotonic_ns() + FAILED_NS;
		return;
	}
	p->made_ns = walked_at(p->made_ns + answer.delay_ns);
	p->wants.ages = wanted->ages;
	p->wants.alive = wanted->alive;
	answer_use(v, of, s, &answer);
	/* Marks that came meanwhile are counted when the next one is due. */
	v->failed = wanted->births && since_mark_differ(&v->births, of->moments, s);
}

/* ---- a tick ------------------------------------------------------------------------------- */

static struct live_wants wants_of(
	const struct live_walk *v, const struct live_walk_of *of, const struct snapshot *s)
{
	return (struct live_wants){ .ages = age_classes_wanted(),
		.births = of->moments->last != NULL,
		.classes = v->site_ticks > 0,
		.retention = s->totals.live_blocks <= BLOCKS_MOST && retention_wanted(s),
		.alive = v->site_ticks > 0 || threads_wanted(),
		.ended = of->ended };
}

/* What the last walk did not count is not made to wait for the next one; nor is the program's end.
 */
static bool is_due(const struct live_walk *v, const struct live_walk_of *of,
	const struct snapshot *s, const struct live_wants *w)
{
	bool was_last = v->plan.wants.ended;

	if (v->failed && clock_monotonic_ns() < v->due_ns && (was_last || !w->ended))
		return false;
	return (w->ended && !v->is_last && (asked(w) || w->retention)) ||
	       (w->ages && !v->ages.known) || (w->alive && !v->alive.known) ||
	       (w->births && since_mark_differ(&v->births, of->moments, s)) ||
	       (w->classes && (!v->ages.has_classes || v->ages.classes_of != v->site)) ||
	       ((asked(w) || w->retention) && clock_monotonic_ns() >= v->due_ns);
}

static void walk_if_due(struct live_walk *v, const struct live_walk_of *of,
	const struct snapshot *s, const struct live_wants *wanted)
{
	if (!v->is_asked && is_due(v, of, s, wanted)) {
		v->plan.wants = *wanted;
		if (of->far)
			walk_ask(v, of, s);
		else
			walk_here(v, of, s);
	}
	if (v->is_asked)
		walk_there(v, of, s, wanted);
}

void live_walk_update(struct live_walk *v, const struct live_walk_of *of, struct snapshot *s)
{
	struct snap_site *sites = (struct snap_site *)(uintptr_t)s->sites;
	const struct live_wants wanted = wants_of(v, of, s);

	v->site_ticks -= v->site_ticks > 0;
	if (!wanted.ages)
		v->ages.known = false;
	if (!wanted.alive)
		v->alive.known = false;
	if (!of->gone)
		walk_if_due(v, of, s, &wanted);
	age_classes_fill(&v->ages, s, sites);
	retention_fill(&v->retention, s, sites);
	live_by_thread_fill(&v->alive, s);
	if (v->is_last)
		s->alive_age_ns = 0; /* nothing changes any more */
	if (wanted.births)
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
	retention_free(&v->plan.retains);
	live_by_thread_free(&v->alive);
}
