/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The threads of a recording of all events (event_threads.h). */
#include "src/record/event_threads.h"

#include <errno.h>
#include <stdlib.h>

#include "src/util/array.h"

#define LOG2_FIRST 8u

int event_threads_begin(struct event_threads *t)
{
	*t = (struct event_threads){ .thread = calloc(EVENT_SLOTS_MAX, sizeof(*t->thread)) };
	return t->thread ? 0 : -ENOMEM;
}

/* Where the share is, or would be. */
static uint32_t *place_of(const struct event_threads *t, uint32_t site, uint32_t slot)
{
	uint64_t key = (uint64_t)site * EVENT_SLOTS_MAX + slot;
	size_t mask = ((size_t)1 << t->log2) - 1,
	       at = (size_t)(key * 0x9e3779b97f4a7c15ull >> (64 - t->log2));
	const struct event_share *s;

	for (; t->table[at] != 0; at = (at + 1) & mask) {
		s = &t->share[t->table[at] - 1];
		if (s->site == site && s->slot == slot)
			break;
	}
	return &t->table[at];
}

static bool table_grow(struct event_threads *t)
{
	unsigned log2 = t->table ? t->log2 + 1 : LOG2_FIRST;
	uint32_t *table = calloc((size_t)1 << log2, sizeof(*table));

	if (!table)
		return false;
	free(t->table);
	t->table = table;
	t->log2 = log2;
	for (size_t i = 0; i < t->nshares; i++)
		*place_of(t, t->share[i].site, t->share[i].slot) = (uint32_t)i + 1;
	return true;
}

static uint32_t share_add(struct event_threads *t, uint32_t site, uint32_t slot)
{
	struct event_share *grown = array_grow(t->share, t->nshares, &t->room, sizeof(*grown));

	if (!grown)
		return EVENT_SHARE_NONE;
	t->share = grown;
	if (t->nshares >= UINT32_MAX - 1 ||
		((!t->table || t->nshares >= ((size_t)1 << t->log2) / 2) && !table_grow(t)))
		return EVENT_SHARE_NONE;
	grown[t->nshares] = (struct event_share){ .site = site, .slot = slot };
	*place_of(t, site, slot) = (uint32_t)++t->nshares;
	return (uint32_t)t->nshares;
}

uint32_t event_threads_alloc(struct event_threads *t, const struct event *e, uint32_t site)
{
	uint32_t slot = e->slot % EVENT_SLOTS_MAX;
	uint32_t number = t->table ? *place_of(t, site, slot) : 0;
	struct event_thread *by = &t->thread[slot];
	struct event_share *s;

	if (!number)
		number = share_add(t, site, slot);
	if (!number)
		return EVENT_SHARE_NONE;
	s = &t->share[number - 1];
	s->allocs++;
	s->alloc_bytes += e->size;
	s->live_blocks++;
	s->live_bytes += e->size;
	by->allocs++;
	by->alloc_bytes += e->size;
	by->live_blocks++;
	by->live_bytes += e->size;
	return number;
}

void event_threads_free(struct event_threads *t, const struct event *e, uint32_t share)
{
	struct event_thread *by = &t->thread[e->slot % EVENT_SLOTS_MAX], *of;
	struct event_share *s;

	by->frees++;
	by->free_bytes += e->size;
	if (share == EVENT_SHARE_NONE)
		return;
	s = &t->share[share - 1];
	s->live_blocks--;
	s->live_bytes -= e->size;
	of = &t->thread[s->slot];
	of->live_blocks--;
	of->live_bytes -= e->size;
	/* Many threads share slot 0. */
	if (of == by || s->slot == 0 || e->slot == 0)
		return;
	by->foreign_frees++;
	by->foreign_bytes += e->size;
}

void event_threads_end(struct event_threads *t)
{
	free(t->thread);
	free(t->share);
	free(t->table);
	*t = (struct event_threads){ 0 };
}
