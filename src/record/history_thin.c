/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thinning (history_store.h): groups are read, some of their ticks dropped, and what is left
 * written as one new group. By age first, then whatever has most bytes for its age until the memory
 * is below the limit. The highest and the lowest total of a group, the first tick after a mark and
 * the last rise of the peak stay. Main thread.
 */
#include "src/record/history_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define S_NS 1000000000ull

/* Full ticks for a while, then coarser ones. A group of such a step spans at most so much. */
static const struct age {
	uint64_t older_ns, step_ns, span_ns;
} ages[] = {
	{ 600 * S_NS, 10 * S_NS, 600 * S_NS },
	{ 7200 * S_NS, 60 * S_NS, 3600 * S_NS },
};

#define AGES	    (sizeof(ages) / sizeof(ages[0]))
#define RAW_MOST    ((size_t)2 << 20) /* of a merged group: some 10 ms to read */
#define POINT_BYTES (sizeof(struct timeline_point) + 1)
#define ROUNDS	    100000u /* of thinning in one go: more than it can take */

/* A run of groups and their ticks. */
struct range {
	size_t group, groups;
	size_t tick, ticks;
};

static struct range range_of(const struct history *h, size_t group, size_t groups)
{
	struct range r = { group, groups, history_group_first(h, group), 0 };

	for (size_t i = 0; i < groups; i++)
		r.ticks += h->groups[group + i].ticks;
	return r;
}

static uint64_t range_span(const struct history *h, struct range r)
{
	return h->points[r.tick + r.ticks - 1].ns - h->points[r.tick].ns;
}

/* ---- which ticks stay ---- */

static void extremes_flag(struct history *h, struct range r)
{
	size_t high = r.tick, low = r.tick;

	for (size_t i = r.tick; i < r.tick + r.ticks; i++) {
		if (h->points[i].live_bytes > h->points[high].live_bytes)
			high = i;
		if (h->points[i].live_bytes < h->points[low].live_bytes)
			low = i;
	}
	h->flags[high] |= HISTORY_EXTREME;
	h->flags[low] |= HISTORY_EXTREME;
}

static void last_peak_flag(struct history *h, struct range r)
{
	bool later = false;

	for (size_t i = r.tick + r.ticks; i-- > r.tick;) {
		if (!(h->flags[i] & HISTORY_PEAK))
			continue;
		if (later)
			h->flags[i] &= (uint8_t)~HISTORY_PEAK;
		later = true;
	}
}

/* `anew`: the extremes of the whole range replace those of its groups, whose time is then finer
 * than what is kept. */
static void flags_make(struct history *h, struct range r, bool anew)
{
	for (size_t i = 0; anew && i < r.ticks; i++)
		h->flags[r.tick + i] &= (uint8_t)~HISTORY_EXTREME;
	if (anew)
		extremes_flag(h, r);
	for (size_t g = 0; !anew && g < r.groups; g++)
		if (h->groups[r.group + g].step_ns == 0)
			extremes_flag(h, range_of(h, r.group + g, 1));
	last_peak_flag(h, r);
}

/* Whether tick `i` stays: the last one of each step does. */
static bool stays(const struct history *h, struct range r, size_t i, uint64_t step)
{
	if (h->flags[i] || i + 1 == r.tick + r.ticks)
		return true;
	return h->points[i].ns / step != h->points[i + 1].ns / step;
}

/* ---- rewriting ---- */

struct rewrite {
	struct state from, to; /* the last tick read, and the last one written */
	struct bytes raw, tick, out;
	uint32_t kept;
};

static int tick_write(struct history *h, struct rewrite *w)
{
	int rc;

	w->tick.len = 0;
	rc = tick_encode_state(&h->encoder, &w->to, &w->from, &w->tick);
	if (rc)
		return rc;
	group_add(&w->out, &w->tick);
	w->kept++;
	return w->out.failed ? -ENOMEM : 0;
}

static int group_rewrite(
	struct history *h, struct rewrite *w, struct range whole, struct range r, uint64_t step)
{
	int rc = history_group_raw(h, r.group, &w->raw);
	struct bytes_cursor c = bytes_begin(&w->raw);
	const uint8_t *tick;
	size_t len;

	state_clear(&w->from);
	for (size_t i = r.tick; rc == 0 && i < r.tick + r.ticks; i++) {
		rc = group_next(&c, &tick, &len) ? tick_decode(&w->from, tick, len) : -EBADMSG;
		if (!rc && stays(h, whole, i, step))
			rc = tick_write(h, w);
	}
	return rc;
}

/* The extremes of dropped ticks pass to the next kept one. */
static void point_merge(struct timeline_point *next, const struct timeline_point *dropped)
{
	if (dropped->low_bytes < next->low_bytes)
		next->low_bytes = dropped->low_bytes;
	if (dropped->high_bytes > next->high_bytes)
		next->high_bytes = dropped->high_bytes;
	next->lost |= dropped->lost;
}

static void points_drop(struct history *h, struct range r, uint64_t step)
{
	size_t to = r.tick, after = r.tick + r.ticks;

	for (size_t i = r.tick; i < after; i++) {
		/* This reads ticks from `i` on, which are still in place. */
		if (!stays(h, r, i, step)) {
			point_merge(&h->points[i + 1], &h->points[i]);
			continue;
		}
		h->points[to] = h->points[i];
		h->flags[to++] = h->flags[i];
	}
	memmove(&h->points[to], &h->points[after], (h->npoints - after) * sizeof(*h->points));
	memmove(&h->flags[to], &h->flags[after], h->npoints - after);
	h->npoints -= after - to;
}

static void groups_replace(struct history *h, struct range r, const struct group *with)
{
	for (size_t i = 0; i < r.groups; i++)
		free(h->groups[r.group + i].data);
	h->groups[r.group] = *with;
	memmove(&h->groups[r.group + 1], &h->groups[r.group + r.groups],
		(h->ngroups - r.group - r.groups) * sizeof(*h->groups));
	h->ngroups -= r.groups - 1;
}

/* Makes one group of the range, with the ticks that stay. */
static int range_rewrite(struct history *h, struct range r, uint64_t step)
{
	struct rewrite w = { 0 };
	struct group g = { .step_ns = step };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r.groups; i++)
		rc = group_rewrite(h, &w, r, range_of(h, r.group + i, 1), step);
	g.ticks = w.kept;
	if (!rc)
		rc = group_pack(&g, &w.out);
	if (!rc && h->source.store)
		rc = h->source.store(h->source.ctx, &g);
	if (!rc) {
		groups_replace(h, r, &g);
		points_drop(h, r, step);
	} else {
		free(g.data);
	}
	state_free(&w.from);
	state_free(&w.to);
	bytes_free(&w.raw);
	bytes_free(&w.tick);
	bytes_free(&w.out);
	return rc;
}

static size_t ticks_staying(const struct history *h, struct range r, uint64_t step)
{
	size_t count = 0;

	for (size_t i = r.tick; i < r.tick + r.ticks; i++)
		count += stays(h, r, i, step);
	return count;
}

/* Thins a range to `step`; does nothing to a single group that would stay as it is. */
static void range_thin(struct history *h, struct range r, uint64_t step, bool anew)
{
	struct group *g = &h->groups[r.group];

	flags_make(h, r, anew);
	if (r.groups == 1 && ticks_staying(h, r, step) == r.ticks) {
		g->step_ns = step;
		g->settled |= anew && step > range_span(h, r);
		return;
	}
	/* Without memory, or if it is damaged, it stays as it is. */
	if (range_rewrite(h, r, step) != 0)
		for (size_t i = 0; i < r.groups; i++) {
			h->groups[r.group + i].step_ns = step;
			h->groups[r.group + i].settled = true;
		}
}

/* ---- by age ---- */

/* Whether a group can be merged with the one before it, in size. */
static bool can_merge(const struct history *h, size_t group)
{
	return group > 0 && h->groups[group - 1].raw_bytes + h->groups[group].raw_bytes <= RAW_MOST;
}

/* Thins the oldest group that is too fine for its age; false: there is none. */
static bool age_thin(struct history *h, const struct age *a)
{
	uint64_t now = h->points[h->npoints - 1].ns;
	size_t tick = 0;

	for (size_t i = 0; i < h->ngroups; tick += h->groups[i++].ticks) {
		struct range both = i ? range_of(h, i - 1, 2) : (struct range){ 0 };

		if (now - h->points[tick + h->groups[i].ticks - 1].ns < a->older_ns)
			return false;
		if (h->groups[i].step_ns >= a->step_ns)
			continue;
		if (can_merge(h, i) && h->groups[i - 1].step_ns == a->step_ns &&
			range_span(h, both) <= a->span_ns)
			range_thin(h, both, a->step_ns, false);
		else
			range_thin(h, range_of(h, i, 1), a->step_ns, false);
		return true;
	}
	return false;
}

/* ---- by size ---- */

/* How much too dense a group is: its bytes a second, times its age. */
static double density(const struct history *h, size_t group, size_t tick)
{
	const struct group *g = &h->groups[group];
	uint64_t now = h->points[h->npoints - 1].ns, from = h->points[tick].ns;
	uint64_t to = h->points[tick + g->ticks - 1].ns;
	double bytes = (double)g->bytes + (double)g->ticks * (double)POINT_BYTES;

	return bytes / ((double)(to - from) + (double)S_NS) * ((double)(now - from) + (double)S_NS);
}

static bool densest(const struct history *h, size_t *group)
{
	double most = -1;
	size_t tick = 0;

	for (size_t i = 0; i < h->ngroups; tick += h->groups[i++].ticks) {
		double d = h->groups[i].settled ? -1 : density(h, i, tick);

		if (d > most) {
			most = d;
			*group = i;
		}
	}
	return most >= 0;
}

/* Half as many ticks as there are. */
static uint64_t coarser(const struct history *h, struct range r)
{
	uint64_t step = h->groups[r.group].step_ns * 2;
	uint64_t twice = 2 * (range_span(h, r) / r.ticks) + 1;

	return step > twice ? step : twice;
}

static void densest_thin(struct history *h, size_t group)
{
	uint64_t step = coarser(h, range_of(h, group, 1));

	if (can_merge(h, group))
		range_thin(h, range_of(h, group - 1, 2), step, true);
	else
		range_thin(h, range_of(h, group, 1), step, true);
}

/* Nothing is left to drop: the two oldest become one, however large. In the end not even marks
 * stay. */
static bool oldest_merge(struct history *h)
{
	struct range r;

	if (h->ngroups < 2 && h->open_ticks > 1 && history_group_end(h) == 0)
		return true;
	if (h->ngroups == 0)
		return false;
	r = range_of(h, 0, h->ngroups > 1 ? 2 : 1);
	if (h->ngroups == 1) {
		if (r.ticks <= 2)
			return false;
		memset(&h->flags[r.tick], 0, r.ticks);
		h->groups[0].settled = false;
	}
	range_thin(h, r, range_span(h, r) + 1, true);
	return true;
}

/* Room that is no longer used goes back. */
static void points_trim(struct history *h)
{
	size_t room = h->npoints + h->npoints / 8 + 64;
	struct timeline_point *points;
	uint8_t *flags;

	if (h->points_room < h->npoints * 2 || h->points_room <= 256)
		return;
	points = realloc(h->points, room * sizeof(*points));
	if (points)
		h->points = points;
	flags = realloc(h->flags, room);
	if (flags)
		h->flags = flags;
	if (points || flags)
		h->points_room = room;
}

/* What the limit is of. */
static uint64_t held_bytes(const struct history *h)
{
	uint64_t sum = 0;

	if (!h->source.store)
		return history_bytes(h);
	for (size_t i = 0; i < h->ngroups; i++)
		sum += h->groups[i].bytes;
	return sum;
}

void history_thin(struct history *h)
{
	size_t group = 0;

	for (size_t i = h->source.store ? 0 : AGES; i-- > 0;)
		while (age_thin(h, &ages[i]))
			;
	points_trim(h);
	for (unsigned round = 0; held_bytes(h) > h->limit_bytes && round < ROUNDS; round++) {
		if (densest(h, &group))
			densest_thin(h, group);
		else if (!oldest_merge(h))
			break;
		points_trim(h);
	}
}
