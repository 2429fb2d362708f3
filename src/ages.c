/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ages of live blocks (ages.h). What is kept is when blocks were born, so ages grow from one
 * reading to the next; a block that was freed meanwhile is noticed at the next. Main thread.
 */
#include "src/ages.h"

#include <stdlib.h>

#include "src/util/clock.h"

#define AGES_SHARE                                                                                 \
	20u /* reading takes 1/20 of the time at most: ten million blocks take seconds             \
	     */

struct ages_site {
	uint64_t first, last; /* births, in ticks; first > last: no live block */
};

static bool ages_wanted;

void ages_want(bool wanted)
{
	ages_wanted = wanted;
}

static int ages_room(struct ages *a, uint32_t sites)
{
	struct ages_site *grown;

	if (sites <= a->room)
		return 0;
	grown = realloc(a->site, (sites + sites / 2) * sizeof(*grown));
	if (!grown)
		return -1;
	a->site = grown;
	a->room = sites + sites / 2;
	return 0;
}

static void ages_block(void *ctx, const struct read_block *b)
{
	struct ages *a = ctx;

	if (b->site >= a->room)
		return; /* newer than the sites that were read */
	if (b->tick < a->site[b->site].first)
		a->site[b->site].first = b->tick;
	if (b->tick > a->site[b->site].last)
		a->site[b->site].last = b->tick;
}

void ages_look(struct ages *a, struct read_segment *segment, uint32_t sites)
{
	uint64_t start = clock_monotonic_ns();

	if (!ages_wanted)
		a->known = false;
	if (!ages_wanted || (a->known && start < a->due_ns) || ages_room(a, sites) != 0)
		return;
	for (uint32_t i = 0; i < a->room; i++)
		a->site[i] = (struct ages_site){ .first = UINT64_MAX };
	a->known = read_blocks(segment, ages_block, a) >= 0;
	a->due_ns = start + (clock_monotonic_ns() - start) * AGES_SHARE;
}

/* The clock that births are taken from may be a little ahead of ours. */
static uint64_t age_of(uint64_t tick, uint64_t uptime_ns)
{
	uint64_t born = tick << HT_TICK_SHIFT;

	return uptime_ns > born ? uptime_ns - born : 0;
}

void ages_tell(const struct ages *a, struct model_site *sites, size_t count, uint64_t uptime_ns)
{
	for (size_t i = 0; i < count; i++) {
		const struct ages_site *s =
			a->known && sites[i].id < a->room ? &a->site[sites[i].id] : NULL;

		/* Those that were alive when the table was read may have been freed since. */
		sites[i].has_ages = s && s->first <= s->last && sites[i].allocs > sites[i].frees;
		if (!sites[i].has_ages)
			continue;
		sites[i].oldest_ns = age_of(s->first, uptime_ns);
		sites[i].youngest_ns = age_of(s->last, uptime_ns);
	}
}

void ages_free(struct ages *a)
{
	free(a->site);
	*a = (struct ages){ 0 };
}
