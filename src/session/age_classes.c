/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ages of live blocks (age_classes.h). Allocation times are stored, not ages, so ages grow between
 * two walks; a block freed between them is noticed by the second. Main thread.
 */
#include "src/session/age_classes.h"

#include <errno.h>
#include <stdlib.h>

struct age_classes_site {
	uint64_t first, last; /* allocation times, in ticks; first > last: no live block */
};

static bool wanted_by_someone;

void age_classes_want(bool wanted)
{
	wanted_by_someone = wanted;
}

bool age_classes_wanted(void)
{
	return wanted_by_someone;
}

int age_classes_start(struct age_classes *a, uint32_t sites)
{
	struct age_classes_site *grown;

	if (sites > a->room) {
		grown = realloc(a->site, (sites + sites / 2) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		a->site = grown;
		a->room = sites + sites / 2;
	}
	for (uint32_t i = 0; i < a->room; i++)
		a->site[i] = (struct age_classes_site){ .first = UINT64_MAX };
	return 0;
}

static uint64_t since_start(uint64_t ns, uint64_t created_ns)
{
	return ns == UINT64_MAX ? ns : ns > created_ns ? ns - created_ns : 0;
}

void age_classes_start_classes(struct age_classes *a, uint32_t site, uint64_t allocs,
	const struct growth_span *span, unsigned spans, uint64_t created_ns)
{
	struct age_classes_class *before = &a->class[0];

	a->classes_of = site;
	a->classes = spans + 1;
	a->counted = allocs;
	*before = (struct age_classes_class){ .to_ns = UINT64_MAX };
	for (unsigned i = 0; i < spans; i++) {
		a->class[i + 1] = (struct age_classes_class){ .from_ns = since_start(
								      span[i].from_ns, created_ns),
			.to_ns = since_start(span[i].to_ns, created_ns),
			.allocs = span[i].allocs };
		allocs -= span[i].allocs < allocs ? span[i].allocs : allocs;
	}
	before->allocs = allocs;
	if (spans > 0)
		before->to_ns = a->class[1].from_ns;
}

/* Moves allocations from a class that has more of them than live blocks. False: none are missing.
 */
static bool class_borrow(struct age_classes_class *to, struct age_classes_class *from)
{
	uint64_t lack = to->blocks > to->allocs ? to->blocks - to->allocs : 0;
	uint64_t spare = from->allocs > from->blocks ? from->allocs - from->blocks : 0;
	uint64_t moved = lack < spare ? lack : spare;

	to->allocs += moved;
	from->allocs -= moved;
	return lack > moved;
}

void age_classes_end_classes(struct age_classes *a, uint64_t allocs)
{
	struct age_classes_class *class = a->class;

	class[a->classes - 1].allocs += allocs > a->counted ? allocs - a->counted : 0;
	for (unsigned i = 0; i < a->classes; i++) {
		bool lacks = true;

		for (unsigned d = 1; lacks && d < a->classes; d++)
			lacks = (i < d || class_borrow(&class[i], &class[i - d])) &&
				(i + d >= a->classes || class_borrow(&class[i], &class[i + d]));
		/* A block may be in the table before it is counted. */
		if (class[i].allocs < class[i].blocks)
			class[i].allocs = class[i].blocks;
	}
}

void age_classes_group(struct age_classes *a, const struct live_group *g)
{
	if (g->site >= a->room)
		return; /* newer than the sites that were read */
	if (g->first < a->site[g->site].first)
		a->site[g->site].first = g->first;
	if (g->last > a->site[g->site].last)
		a->site[g->site].last = g->last;
}

void age_classes_group_class(struct age_classes *a, const struct live_group *g)
{
	uint64_t born = g->first << HT_TICK_SHIFT;
	unsigned at = a->classes;

	if (g->site != a->classes_of || !a->classes)
		return;
	while (--at > 0 && a->class[at].from_ns > born)
		;
	a->class[at].blocks += g->blocks;
	a->class[at].bytes += g->bytes;
}

/* The clock of allocation times may be a little ahead of ours. */
static uint64_t age_of(uint64_t tick, uint64_t uptime_ns)
{
	uint64_t born = tick << HT_TICK_SHIFT;

	return uptime_ns > born ? uptime_ns - born : 0;
}

void age_classes_fill(const struct age_classes *a, struct snapshot *s, struct snap_site *sites)
{
	for (size_t i = 0; i < s->nsites; i++) {
		const struct age_classes_site *in =
			a->known && sites[i].id < a->room ? &a->site[sites[i].id] : NULL;

		/* The blocks that were live when the table was read may have been freed since. */
		sites[i].has_ages = in && in->first <= in->last && sites[i].allocs > sites[i].frees;
		if (!sites[i].has_ages)
			continue;
		sites[i].oldest_ns = age_of(in->first, s->uptime_ns);
		sites[i].youngest_ns = age_of(in->last, s->uptime_ns);
	}
}

void age_classes_free(struct age_classes *a)
{
	free(a->site);
	*a = (struct age_classes){ 0 };
}
