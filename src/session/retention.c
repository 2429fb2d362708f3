/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What growing sites retain of their growth (retention.h). Called by the live walk, on the main
 * thread.
 *
 * A site that frees nothing still has, from each span in which it grew, at least the bytes it
 * gained then. A site that turns over has fewer the older the span is. If it frees in order, next
 * to nothing is left of the older span; if it frees at random, much less than of the younger span.
 */
#include "src/session/retention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fewer live blocks are no evidence: one that realloc moves whenever it grows is always new. */
#define FEW    8u
#define TRIFLE 32u /* nor is a gain of less than 1/32 of the growth */

bool retention_wanted(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nsites; i++)
		if (s->sites[i].growth.sure > 0)
			return true;
	return false;
}

static int room_make(struct retention *l, uint32_t sites)
{
	uint8_t *grown = sites > l->room ? realloc(l->which, sites + sites / 2) : l->which;

	if (sites > l->room) {
		if (!grown)
			return -ENOMEM;
		l->which = grown;
		l->room = sites + sites / 2;
	}
	if (l->room)
		memset(l->which, 0, l->room);
	return 0;
}

static uint64_t birth_of(uint64_t age_ns, uint64_t uptime_ns)
{
	return uptime_ns > age_ns ? uptime_ns - age_ns : 0;
}

static void site_start(struct retention_site *l, const struct snap_site *s, uint64_t uptime_ns)
{
	const struct snap_growth *g = &s->growth;
	uint64_t rise = (uint64_t)(g->bytes_per_s * (double)g->over_ns / 1e9);

	*l = (struct retention_site){ .id = s->id,
		.from_ns = birth_of(g->old.oldest_ns, uptime_ns),
		.middle_ns = birth_of(g->old.youngest_ns, uptime_ns),
		.to_ns = birth_of(g->middle.youngest_ns, uptime_ns),
		.gained_old = g->old.bytes,
		.gained_middle = g->middle.bytes,
		.few = s->live_blocks < FEW || g->old.bytes < rise / TRIFLE };
}

int retention_start(struct retention *l, const struct snapshot *s, uint32_t sites)
{
	uint32_t index[RETENTION_SITES];
	size_t n = growth_rank(s, index, RETENTION_SITES);

	l->known = false;
	l->sites = 0;
	if (room_make(l, sites) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < RETENTION_SITES; i++) {
		const struct snap_site *site = &s->sites[index[i]];

		if (site->id >= l->room)
			continue;
		site_start(&l->site[l->sites++], site, s->uptime_ns);
		l->which[site->id] = (uint8_t)l->sites;
	}
	return 0;
}

void retention_group(struct retention *l, const struct live_group *g)
{
	unsigned which = g->site < l->room ? l->which[g->site] : 0;
	uint64_t born = g->first << HT_TICK_SHIFT;
	struct retention_site *site;

	if (!which)
		return;
	site = &l->site[which - 1];
	if (born < site->from_ns || born >= site->to_ns)
		return;
	if (born < site->middle_ns)
		site->alive_old += g->bytes;
	else
		site->alive_middle += g->bytes;
}

/* The fraction of the growth that is retained, 0 to 1. */
static double part_kept(const struct retention_site *l)
{
	double old = l->gained_old ? (double)l->alive_old / (double)l->gained_old : 0;
	double middle = l->gained_middle ? (double)l->alive_middle / (double)l->gained_middle : 1;

	if (middle > 1)
		old /= middle;
	return old < 1 ? old : 1;
}

void retention_fill(const struct retention *l, const struct snapshot *s, struct snap_site *sites)
{
	for (size_t i = 0; l->known && i < s->nsites; i++) {
		unsigned which = sites[i].id < l->room ? l->which[sites[i].id] : 0;
		struct snap_growth *g = &sites[i].growth;

		if (!which || g->sure <= 0 || l->site[which - 1].few)
			continue;
		growth_kept(g, part_kept(&l->site[which - 1]));
	}
}

void retention_free(struct retention *l)
{
	free(l->which);
	*l = (struct retention){ .which = NULL };
}
