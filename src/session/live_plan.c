/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a walk over the live blocks is for (live_plan.h). */
#include "src/session/live_plan.h"

#include "shm/layout.h"

#define TICK_NS (UINT64_C(1) << HT_TICK_SHIFT)

bool live_plan_classes(
	struct live_plan *p, const struct model *m, const struct snapshot *s, uint32_t site)
{
	const struct snap_site *of = snapshot_site(s, site);

	if (!of)
		return false;
	p->site = site;
	p->allocs = of->allocs;
	p->spans = model_site_spans(m, site, p->span);
	return true;
}

/* Between blocks that were allocated before a time since the program's start, and others. */
static void time_cut(struct live_cuts *c, uint32_t site, uint64_t ns)
{
	if (ns > 0 && ns <= UINT64_MAX - TICK_NS)
		live_cuts_add(c, site, (ns + TICK_NS - 1) >> HT_TICK_SHIFT);
}

/* A mark within a tick comes before that tick's allocations. */
static void mark_cut(struct live_cuts *c, const struct snap_mark *m)
{
	if (m)
		live_cuts_add(c, LIVE_CUT_ALL, m->ns >> HT_TICK_SHIFT);
}

static void marks_cut(const struct since_mark_plan *p, struct live_cuts *c)
{
	for (const struct snap_mark *m = p->marks.last; m; m = m->before)
		mark_cut(c, m);
	mark_cut(c, p->since);
	mark_cut(c, p->until);
}

void live_plan_cuts(const struct live_plan *p, uint64_t created_ns, struct live_cuts *out)
{
	out->count = 0;
	out->full = false;
	for (unsigned i = 0; p->wants.classes && i < p->spans; i++)
		time_cut(out, p->site,
			p->span[i].from_ns > created_ns ? p->span[i].from_ns - created_ns : 0);
	for (unsigned i = 0; p->wants.retention && i < p->retains.sites; i++) {
		const struct retention_site *site = &p->retains.site[i];

		time_cut(out, site->id, site->from_ns);
		time_cut(out, site->id, site->middle_ns);
		time_cut(out, site->id, site->to_ns);
	}
	if (p->wants.births)
		marks_cut(&p->marks, out);
}
