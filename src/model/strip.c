/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resampling a timeline (strip.h). Called by the screen once a tick. Pure. */
#include "src/model/strip.h"

#include <string.h>

/* A strip whose first tick comes later than this part of it does not show the time before. */
#define MISSING_PART 8
#define NS_MOST	     (1ull << 62) /* 146 years: later times are not told apart */

/* The smallest round length of at least `least` ns: at least four fifths of a full strip are used.
 */
static uint64_t round_length(uint64_t least)
{
	static const uint64_t rounds[] = { 10, 12, 15, 20, 25, 30, 40, 50, 60, 80 };
	uint64_t scale = 1;

	while (scale < UINT64_MAX / 1000 && least > scale * 80)
		scale *= 10;
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
		if (rounds[i] * scale >= least)
			return rounds[i] * scale;
	return least;
}

static void scale_choose(struct strip *s, uint64_t first, uint64_t last, unsigned cells)
{
	uint64_t from = first > last / MISSING_PART ? first : 0;
	uint64_t least = (last - from) / cells + 1;

	do {
		s->step_ns = round_length(least);
		s->from_ns = from - from % s->step_ns;
		least = s->step_ns + 1;
	} while ((last - s->from_ns) / s->step_ns >= cells);
	s->count = (unsigned)((last - s->from_ns) / s->step_ns) + 1;
}

static void cell_add(struct strip_cell *c, const struct timeline *t, size_t i)
{
	const struct timeline_point *p = &t->points[i];
	uint64_t low = p->low_bytes < p->live_bytes ? p->low_bytes : p->live_bytes;
	uint64_t high = p->high_bytes > p->live_bytes ? p->high_bytes : p->live_bytes;

	if (!c->has_point || p->live_bytes > t->points[c->point].live_bytes)
		c->point = i;
	c->low = !c->known || low < c->low ? low : c->low;
	c->high = !c->known || high > c->high ? high : c->high;
	c->known = c->has_point = true;
	c->last = i;
	c->lost |= p->lost;
}

/* A time without ticks: live bytes are those of the tick before. */
/* A line that varies by less than half of its height is drawn from its least value on. */
static void base_choose(struct strip *s)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < s->count; i++)
		if (s->cell[i].known && s->cell[i].low < least)
			least = s->cell[i].low;
	s->base = least != UINT64_MAX && least > s->high / 2 ? least : 0;
}

static void cells_fill(struct strip *s, const struct timeline *t)
{
	for (unsigned i = 0; i < s->count; i++) {
		struct strip_cell *c = &s->cell[i], *before = i ? c - 1 : NULL;

		if (!c->has_point && before && before->known) {
			c->point = c->last = before->last;
			c->low = c->high = t->points[c->last].live_bytes;
			c->known = true;
		}
		if (c->high > s->high) {
			s->high = c->high;
			s->high_cell = i;
		}
	}
	base_choose(s);
}

void strip_make(struct strip *s, const struct timeline *t, unsigned cells)
{
	uint64_t first, last;

	cells = cells < STRIP_CELLS ? cells : STRIP_CELLS;
	s->count = 0;
	s->high = s->base = 0;
	s->high_cell = 0;
	if (!t || !t->npoints || !cells)
		return;
	first = t->points[0].ns < NS_MOST ? t->points[0].ns : NS_MOST;
	last = t->points[t->npoints - 1].ns < NS_MOST ? t->points[t->npoints - 1].ns : NS_MOST;
	/* Each time has a cell, those out of order too. */
	scale_choose(s, first, last > first ? last : first, cells);
	memset(s->cell, 0, s->count * sizeof(s->cell[0]));
	for (size_t i = 0; i < t->npoints; i++)
		cell_add(&s->cell[strip_cell_at(s, t->points[i].ns)], t, i);
	cells_fill(s, t);
}

unsigned strip_cell_at(const struct strip *s, uint64_t ns)
{
	uint64_t cell = ns < s->from_ns ? 0 : (ns - s->from_ns) / s->step_ns;

	return cell < s->count ? (unsigned)cell : s->count - 1;
}
