/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ticks of a process image in memory (history.h): adding them. Main thread. */
#include "src/record/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/record/history_store.h"
#include "src/util/array.h"

#define LIMIT_GROUPS  8u /* the open group takes at most that part of the limit */
#define SCRATCH_SHARE 32u /* so do kept buffers */
#define STATE_SHARE   2u /* the present state */

struct history *history_new(uint64_t limit_bytes)
{
	struct history *h = calloc(1, sizeof(*h));

	if (h)
		h->limit_bytes = limit_bytes;
	return h;
}

static void history_empty(struct history *h)
{
	for (size_t i = 0; i < h->ngroups; i++)
		free(h->groups[i].data);
	free(h->groups);
	free(h->points);
	free(h->flags);
	bytes_free(&h->open);
	bytes_free(&h->tick);
	state_free(&h->now);
	tick_encoder_free(&h->encoder);
	h->groups = NULL;
	h->points = NULL;
	h->flags = NULL;
	h->ngroups = h->groups_room = h->npoints = h->points_room = 0;
	h->open_ticks = 0;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	history_empty(h);
	free(h);
}

size_t history_bytes(const struct history *h)
{
	size_t sum = sizeof(*h) + h->open.cap + h->tick.cap + state_bytes(&h->now) +
		     tick_encoder_bytes(&h->encoder) + h->groups_room * sizeof(*h->groups) +
		     h->points_room * (sizeof(*h->points) + sizeof(*h->flags));

	for (size_t i = 0; i < h->ngroups; i++)
		sum += h->groups[i].data ? h->groups[i].bytes + 2 * sizeof(size_t) : 0;
	return sum;
}

int history_point_add(struct history *h, const struct timeline_point *p, uint8_t flags)
{
	size_t room = h->points_room ? h->points_room + h->points_room / 4 : 64;
	struct timeline_point *points;
	uint8_t *f;

	if (h->npoints == h->points_room) {
		points = realloc(h->points, room * sizeof(*points));
		if (points)
			h->points = points;
		f = realloc(h->flags, room);
		if (f)
			h->flags = f;
		if (!points || !f)
			return -ENOMEM;
		h->points_room = room;
	}
	h->points[h->npoints] = *p;
	h->flags[h->npoints++] = flags;
	return 0;
}

int history_group_add(struct history *h, const struct group *g)
{
	struct group *groups = array_grow(h->groups, h->ngroups, &h->groups_room, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	h->groups = groups;
	groups[h->ngroups++] = *g;
	return 0;
}

int history_group_end(struct history *h)
{
	struct group g = { .ticks = h->open_ticks };
	int rc = 0;

	if (h->open_ticks == 0)
		return 0;
	rc = group_pack(&g, &h->open);
	if (!rc)
		rc = history_group_add(h, &g);
	if (rc) {
		free(g.data);
		return rc;
	}
	h->open.len = 0;
	h->open_ticks = 0;
	return 0;
}

size_t history_group_first(const struct history *h, size_t group)
{
	size_t first = 0;

	for (size_t i = 0; i < group; i++)
		first += h->groups[i].ticks;
	return first;
}

int history_group_raw(const struct history *h, size_t g, struct bytes *raw)
{
	raw->len = 0;
	if (g < h->ngroups && h->groups[g].data)
		return group_unpack(&h->groups[g], raw);
	if (g < h->ngroups)
		return h->source.load ? h->source.load(h->source.ctx, &h->groups[g], raw) : -EIO;
	bytes_add(raw, h->open.data, h->open.len);
	return raw->failed ? -ENOMEM : 0;
}

/* The part of the limit that something may take. */
static size_t limit_part(const struct history *h, unsigned share)
{
	return h->limit_bytes / share;
}

/* Whether the next tick begins a group. */
static bool open_is_full(const struct history *h, uint64_t ns)
{
	size_t most = group_most(h->key_bytes);
	uint64_t from = h->open_ticks ? h->points[h->npoints - h->open_ticks].ns : ns;

	if (most > limit_part(h, LIMIT_GROUPS))
		most = limit_part(h, LIMIT_GROUPS);
	return h->open_ticks && group_is_full(h->open.len, h->key_bytes, most, ns - from);
}

/* Encodes a tick into h->tick. */
static int tick_make(struct history *h, const struct snapshot *s)
{
	int rc;

	if (h->open_ticks == 0)
		state_clear(&h->now);
	h->tick.len = 0;
	rc = tick_encode(&h->encoder, &h->now, s, &h->tick);
	if (!rc)
		group_add(&h->open, &h->tick);
	if (!rc && h->open.failed) {
		/* The buffer is as before, as far as it is used. */
		h->open.failed = false;
		rc = -ENOMEM;
	}
	if (h->open_ticks == 0)
		h->key_bytes = h->tick.len;
	h->tick.failed = false;
	return rc;
}

struct timeline_point history_point(
	struct history_seen *seen, const struct snapshot *s, uint8_t *flags)
{
	const struct snap_totals *t = &s->totals;
	unsigned mark = s->moments ? s->moments->number : 0;
	struct timeline_point p = { .ns = s->uptime_ns,
		.live_bytes = t->live_bytes,
		.low_bytes = t->live_bytes,
		.high_bytes = t->live_bytes,
		.rss = s->proc.valid ? s->proc.rss : 0,
		.allocs = t->allocs,
		.minor_faults = s->proc.minor_faults,
		.major_faults = s->proc.major_faults,
		.threads = s->proc.threads,
		.lost = t->lost_events > seen->lost };

	*flags = 0;
	if (seen->any && p.ns <= seen->ns)
		p.ns = seen->ns + 1;
	if (mark > seen->mark)
		*flags |= HISTORY_MARK;
	if (t->peak_live_bytes > seen->peak)
		*flags |= HISTORY_PEAK;
	/* A peak between two ticks is seen, too; one before the first tick has no place. */
	if (seen->any && *flags & HISTORY_PEAK && t->peak_live_bytes > p.high_bytes)
		p.high_bytes = t->peak_live_bytes;
	*seen = (struct history_seen){ true, p.ns, t->peak_live_bytes, t->lost_events, mark };
	return p;
}

/* Large buffers are not kept in between. */
static void scratch_trim(struct history *h)
{
	if (tick_encoder_bytes(&h->encoder) > limit_part(h, SCRATCH_SHARE))
		tick_encoder_free(&h->encoder);
	if (h->tick.cap > limit_part(h, SCRATCH_SHARE))
		bytes_free(&h->tick);
	if (h->open_ticks == 0 && h->open.cap > limit_part(h, SCRATCH_SHARE))
		bytes_free(&h->open);
}

/* The state after a failure is unknown: the next tick is a key frame. */
static int add_failed(struct history *h, size_t open_len)
{
	h->open.len = open_len;
	if (history_group_end(h) != 0) {
		h->npoints -= h->open_ticks;
		h->open.len = 0;
		h->open_ticks = 0;
	}
	return -ENOMEM;
}

static int tick_add(struct history *h, const struct snapshot *s)
{
	size_t open_len = h->open.len;
	struct timeline_point p;
	uint8_t flags;

	p = history_point(&h->seen, s, &flags);
	if (tick_make(h, s) != 0 || history_point_add(h, &p, flags) != 0)
		return add_failed(h, open_len);
	h->open_ticks++;
	scratch_trim(h);
	return 0;
}

int history_add(struct history *h, const struct snapshot *s)
{
	int rc;

	if (h->too_small)
		return -ENOMEM;
	if (h->open_ticks && state_is_of(&h->now, s))
		return 0;
	if (open_is_full(h, s->uptime_ns) && history_group_end(h) != 0)
		return -ENOMEM;
	rc = tick_add(h, s);
	if (rc)
		return rc;
	if (state_bytes(&h->now) > limit_part(h, STATE_SHARE)) {
		history_empty(h);
		h->too_small = true;
		return -ENOMEM;
	}
	history_thin(h);
	return 0;
}

const struct timeline *history_timeline(struct history *h)
{
	h->line.points = h->points;
	h->line.npoints = h->npoints;
	h->line.bytes = history_bytes(h);
	h->line.limit_bytes = h->limit_bytes;
	return &h->line;
}
