/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff as a snapshot (diff_snapshot.h). Main thread. */
#include "src/diff/diff_snapshot.h"

#include "src/model/mark_list.h"
#include "src/model/moment.h"

static struct snap_mark mark_of(const struct snap_totals *t, const char *name)
{
	struct snap_mark mark = { .live_bytes = t->live_bytes,
		.live_blocks = t->live_blocks,
		.allocs = t->allocs,
		.alloc_bytes = t->alloc_bytes };

	mark_list_rename(&mark, name);
	return mark;
}

static uint64_t increase(const struct diff_change *c)
{
	return c->b > c->a ? c->b - c->a : 0;
}

static struct snap_since since_of(const struct diff_row *r)
{
	const struct diff_change *c = r->change;

	return (struct snap_since){ .bytes = (int64_t)(c[VALUE_LIVE].b - c[VALUE_LIVE].a),
		.blocks = (int64_t)(c[VALUE_BLOCKS].b - c[VALUE_BLOCKS].a),
		.allocs = increase(&c[VALUE_ALLOCS]),
		.alloc_bytes = increase(&c[VALUE_ALLOCATED]) };
}

static void site_fill(
	struct snap_site *out, const struct diff_row *r, enum snap_value value, uint32_t id)
{
	const struct snap_site *from = r->b ? r->b : r->a;
	const struct diff_change *c = r->change;

	*out = (struct snap_site){ .id = id,
		.alloc_function = from->alloc_function,
		.stack = from->stack,
		.live_bytes = c[VALUE_LIVE].b,
		.live_blocks = c[VALUE_BLOCKS].b,
		.allocs = c[VALUE_ALLOCS].b,
		.frees = c[VALUE_ALLOCS].b - c[VALUE_BLOCKS].b,
		.alloc_bytes = c[VALUE_ALLOCATED].b,
		.temporary = c[VALUE_TEMPORARY].b,
		.at_peak_bytes = c[VALUE_PEAK].b,
		.peak_live_bytes = c[VALUE_OWN_PEAK].b,
		.since = since_of(r),
		.compared = { c[value].a, c[value].b } };
}

struct snapshot *diff_snapshot_make(const struct diff *d, const char *a, const char *b)
{
	struct snapshot *base = (struct snapshot *)(uintptr_t)d->b[0], *s;
	struct snap_site *sites;
	struct snap_mark *marks;
	void *room;

	s = moment_derive_room(base, d->nrows, &sites, 2 * sizeof(*marks), &room);
	if (!s)
		return NULL;
	marks = room;
	marks[0] = mark_of(&d->a[0]->totals, a);
	marks[1] = mark_of(&base->totals, b);
	for (size_t i = 0; i < d->nrows; i++)
		site_fill(&sites[i], &d->rows[i], d->value, (uint32_t)i + 1);
	s->totals.has_mapped = false;
	moment_clear_present(s);
	/* The changes are shown beside what a program holds now; if it ran then, this is a copy. */
	s->moment = SNAP_NOW;
	if (s->state == SNAP_STARTING || s->state == SNAP_RUNNING)
		s->state = SNAP_COPY;
	s->compared = &value_table[d->value];
	s->since = &marks[0];
	s->until = &marks[1];
	s->moments = NULL;
	s->children = NULL;
	s->nchildren = 0;
	return s;
}
