/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diff as a snapshot (diff_snapshot.h). Main thread. */
#include "src/diff/diff_snapshot.h"

#include <string.h>

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

/* What follows the sites in the snapshot's memory. */
struct rest {
	struct snap_mark marks[2];
	struct snap_versus versus;
	struct snap_thread threads[]; /* of B; then of A, as many */
};

/* The threads of both sides by name, since nothing else of a thread is the same in two runs. But
 * the first thread is the same, whether or not a run lasted until its name was read. */
struct pairs {
	struct snap_thread *side[2];
	size_t count;
};

static const struct snap_thread *first_thread(const struct snapshot *s)
{
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->pid > 0 && s->threads[i].tid == (uint32_t)s->pid &&
			s->threads[i].owners == 1)
			return &s->threads[i];
	return NULL;
}

/* What thread `t` of a side is called; `other`: the other side's first thread, or NULL. */
static const char *paired_name(const struct snap_thread *t, const struct snap_thread *other)
{
	if (!other || !other->name[0] || strcmp(t->name, SNAP_FIRST_THREAD) != 0)
		return t->name;
	return other->name;
}

static void thread_add(
	struct pairs *p, int side, const struct snap_thread *t, const struct snap_thread *other)
{
	const char *name = paired_name(t, other);
	struct snap_thread *sum;
	size_t i = 0;

	while (i < p->count && (strcmp(p->side[0][i].name, name) != 0 ||
				       (p->side[0][i].slot == 0) != (t->slot == 0)))
		i++;
	if (i == p->count) {
		for (int k = 0; k < 2; k++) {
			p->side[k][i].slot = t->slot ? (uint32_t)i + 1 : 0;
			memcpy(p->side[k][i].name, name, strlen(name) + 1);
		}
		p->count++;
	}
	sum = &p->side[side][i];
	sum->owners += t->owners ? t->owners : 1;
	sum->allocs += t->allocs;
	sum->alloc_bytes += t->alloc_bytes;
	sum->frees += t->frees;
	sum->free_bytes += t->free_bytes;
	sum->foreign_frees += t->foreign_frees;
	sum->foreign_bytes += t->foreign_bytes;
}

static void sides_fill(
	struct snapshot *s, const struct snapshot *a, const struct snapshot *b, struct rest *rest)
{
	struct pairs p = { .side = { rest->threads, rest->threads + a->nthreads + b->nthreads } };

	for (size_t i = 0; i < b->nthreads; i++)
		thread_add(&p, 0, &b->threads[i], first_thread(a));
	for (size_t i = 0; i < a->nthreads; i++)
		thread_add(&p, 1, &a->threads[i], first_thread(b));
	s->threads = p.side[0];
	s->nthreads = p.count;
	rest->versus = (struct snap_versus){ a->sizes, a->lifetimes, a->totals.live_blocks,
		a->totals.allocs, p.side[1] };
	s->versus = &rest->versus;
}

struct snapshot *diff_snapshot_make(const struct diff *d, const char *a, const char *b)
{
	struct snapshot *base = (struct snapshot *)(uintptr_t)d->b[0], *s;
	size_t threads = 2 * (base->nthreads + d->a[0]->nthreads);
	struct snap_site *sites;
	struct snap_mark *marks;
	void *room;

	s = moment_derive_room(base, d->nrows, &sites,
		sizeof(struct rest) + threads * sizeof(struct snap_thread), &room);
	if (!s)
		return NULL;
	marks = ((struct rest *)room)->marks;
	marks[0] = mark_of(&d->a[0]->totals, a);
	marks[1] = mark_of(&base->totals, b);
	for (size_t i = 0; i < d->nrows; i++)
		site_fill(&sites[i], &d->rows[i], d->value, (uint32_t)i + 1);
	s->totals.has_mapped = false;
	moment_clear_present(s);
	sides_fill(s, d->a[0], base, room);
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
