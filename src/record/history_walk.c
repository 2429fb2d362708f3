/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a history (history_walk.h). Main thread. */
#include "src/record/history_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/rates.h"

/* What is read before a tick for its rates and trends, raw: some 20 ms. The group before the
 * tick's own is read in any case, unless it is larger than this. */
#define BEFORE_RAW	((size_t)4 << 20)
#define WINDOW_LEAST_NS 50000000ull /* a rate over less is noise */
#define TREND_TICKS	((SNAP_TREND_POINTS - 1) * SNAP_TREND_TICKS)

static uint32_t group_ticks(const struct history *h, size_t g)
{
	return g < h->ngroups ? h->groups[g].ticks : h->open_ticks;
}

static size_t group_raw_bytes(const struct history *h, size_t g)
{
	return g < h->ngroups ? h->groups[g].raw_bytes : h->open.len;
}

/* The group of a tick, and the group's first tick. */
static size_t group_of(const struct history *h, size_t tick, size_t *first)
{
	size_t g = 0;

	*first = 0;
	while (g < h->ngroups && tick - *first >= h->groups[g].ticks)
		*first += h->groups[g++].ticks;
	return g;
}

struct walk {
	struct state state;
	struct bytes raw;
	size_t from, to;
	int (*each)(void *ctx, size_t tick, const struct state *s);
	void *ctx;
};

static int group_walk(struct history *h, struct walk *w, size_t g, size_t first)
{
	int rc = history_group_raw(h, g, &w->raw);
	struct bytes_cursor c = bytes_begin(&w->raw);
	size_t end = first + group_ticks(h, g);
	const uint8_t *tick;
	size_t len;

	state_clear(&w->state);
	for (size_t i = first; rc == 0 && i < end && i <= w->to; i++) {
		rc = group_next(&c, &tick, &len) ? tick_decode(&w->state, tick, len) : -EBADMSG;
		if (!rc && i >= w->from)
			rc = w->each(w->ctx, i, &w->state);
	}
	return rc;
}

int history_walk(struct history *h, size_t from, size_t to,
	int (*each)(void *ctx, size_t tick, const struct state *s), void *ctx)
{
	struct walk w = { .from = from, .to = to, .each = each, .ctx = ctx };
	size_t first, g = group_of(h, from, &first);
	int rc = 0;

	for (; rc == 0 && first <= to && g <= h->ngroups; first += group_ticks(h, g++)) {
		if (group_ticks(h, g) == 0)
			break;
		rc = group_walk(h, &w, g, first);
	}
	state_free(&w.state);
	bytes_free(&w.raw);
	return rc;
}

/* ---- a moment ---- */

/* The earliest tick that is read for `tick`. */
static size_t earliest(const struct history *h, size_t tick)
{
	size_t want = tick > TREND_TICKS ? tick - TREND_TICKS : 0, first, raw = 0;
	size_t g = group_of(h, tick, &first);

	while (want > 0 && h->points[tick].ns - h->points[want].ns < RATES_WINDOW_NS)
		want--;
	while (g > 0 && first > want && raw + group_raw_bytes(h, g - 1) <= BEFORE_RAW) {
		g--;
		raw += group_raw_bytes(h, g);
		first -= group_ticks(h, g);
	}
	return first > want ? first : want;
}

/* The oldest tick inside the window, or the newest one before it; `tick`: none. */
static size_t window_tick(const struct history *h, size_t from, size_t tick)
{
	uint64_t ns = h->points[tick].ns;
	size_t found = tick;

	for (size_t i = from; i < tick; i++) {
		if (ns - h->points[i].ns < WINDOW_LEAST_NS)
			break;
		found = i;
		if (ns - h->points[i].ns <= RATES_WINDOW_NS)
			break;
	}
	return found;
}

static int sample_take(struct history_sample *out, const struct state *s, unsigned number)
{
	out->live_bytes = calloc(s->room ? s->room : 1, sizeof(*out->live_bytes));
	if (!out->live_bytes)
		return -ENOMEM;
	out->room = s->room;
	for (uint32_t id = state_site_next(s, 0); id < s->room; id = state_site_next(s, id + 1))
		out->live_bytes[id] = s->site[id].n[number];
	return 0;
}

static int window_take(struct history_window *w, const struct state *s)
{
	int rc = sample_take(&w->live, s, STATE_LIVE_BYTES);

	if (!rc)
		rc = sample_take(&w->allocs, s, STATE_ALLOCS);
	memcpy(w->head, s->head, sizeof(w->head));
	w->thread = malloc((s->thread_room ? s->thread_room : 1) * sizeof(*w->thread));
	if (!w->thread)
		return -ENOMEM;
	if (s->thread_room)
		memcpy(w->thread, s->thread, s->thread_room * sizeof(*w->thread));
	w->threads = s->thread_room;
	return rc;
}

struct reading {
	struct history *h;
	struct history_moment *moment;
	size_t window;
};

static int moment_each(void *ctx, size_t tick, const struct state *s)
{
	struct reading *r = ctx;
	struct history_moment *m = r->moment;
	size_t back = m->tick - tick;
	int rc = 0;

	if (tick == m->tick)
		return state_copy(&m->state, s);
	if (tick == r->window)
		rc = window_take(&m->window, s);
	if (!rc && back <= TREND_TICKS && back % SNAP_TREND_TICKS == 0) {
		unsigned at = (unsigned)(back / SNAP_TREND_TICKS) - 1;

		rc = sample_take(&m->trend[at], s, STATE_LIVE_BYTES);
		if (m->trends <= at)
			m->trends = at + 1;
	}
	return rc;
}

int history_moment_read(struct history *h, size_t tick, struct history_moment *m)
{
	struct reading r = { .h = h, .moment = m };
	size_t from = earliest(h, tick);

	*m = (struct history_moment){ .tick = tick };
	r.window = window_tick(h, from, tick);
	m->window.valid = r.window != tick;
	m->window.seconds = (double)(h->points[tick].ns - h->points[r.window].ns) / 1e9;
	/* A young program had nothing at its start. */
	if (tick == 0 && h->points[0].ns <= RATES_WINDOW_NS && h->points[0].ns >= WINDOW_LEAST_NS) {
		m->window.valid = true;
		m->window.seconds = (double)h->points[0].ns / 1e9;
	}
	return history_walk(h, from, tick, moment_each, &r);
}

void history_moment_free(struct history_moment *m)
{
	state_free(&m->state);
	free(m->window.live.live_bytes);
	free(m->window.allocs.live_bytes);
	free(m->window.thread);
	for (unsigned i = 0; i < SNAP_TREND_POINTS; i++)
		free(m->trend[i].live_bytes);
}
