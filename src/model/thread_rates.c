/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rates of threads (threadpast.h), for model.c, on the main thread. A slot that is new was zero
 * before: that is what its counters began with.
 */
#include "src/model/thread_rates.h"

#include <stdlib.h>
#include <string.h>

struct threadpast_one {
	uint64_t allocs[THREADPAST_POINTS], frees[THREADPAST_POINTS];
};

static bool threadpast_room(struct threadpast *p, uint32_t slot)
{
	uint32_t slots = slot + slot / 2 + 16;
	struct threadpast_one *one;

	if (slot < p->slots)
		return true;
	one = realloc(p->one, slots * sizeof(*one));
	if (!one)
		return false;
	memset(one + p->slots, 0, (slots - p->slots) * sizeof(*one));
	p->one = one;
	p->slots = slots;
	return true;
}

static double per_second(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (double)(now - before) / seconds : 0;
}

static void rates_fill(
	const struct threadpast_one *one, struct snap_thread *t, const struct threadpast_window *w)
{
	t->allocs_per_s = per_second(one->allocs[w->slot], t->allocs, w->seconds);
	t->frees_per_s = per_second(one->frees[w->slot], t->frees, w->seconds);
}

void threadpast_rates(
	struct threadpast *p, struct snap_thread *t, size_t n, const struct threadpast_window *w)
{
	for (size_t i = 0; i < n; i++) {
		struct threadpast_one *one;

		if (!threadpast_room(p, t[i].slot))
			continue;
		one = &p->one[t[i].slot];
		if (w->valid)
			rates_fill(one, &t[i], w);
		if (w->keep < 0)
			continue;
		one->allocs[w->keep] = t[i].allocs;
		one->frees[w->keep] = t[i].frees;
	}
}

void threadpast_free(struct threadpast *p)
{
	free(p->one);
}
