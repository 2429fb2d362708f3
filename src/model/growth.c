/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The growth detector (growth.h). The model calls it at each tick, on the main thread; most sites
 * do not change and cost one comparison.
 */
#include "src/model/growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_NS	   950000000ull /* a second, less the jitter of a 1 Hz tick */
#define LEAST	   8u /* least spans of a window that are judged */
#define LAST_PARTS 3u /* last parts of a window, in which it must still grow */
#define FORGET	   3u /* a fall counts for this many times the length of the rise before it */
#define FRESH	   8u /* and for at least this many spans */
#define TRIFLE	   32.0f /* a part with less than 1/32 of the rise counts as flat */
#define EVEN	   0.25 /* with less than this of the even rate at the end, it levels off */
#define HALF_NS	   20e9 /* growth for this long is half as certain as growth forever */
#define LIKELY	   0.5 /* from this on: steady growth for 20 s, */
#define SURE	   0.85 /* and for two minutes */
#define DIES_OFF   (1.0 / 3) /* factor on `sure` if no block lasts */
#define ALL	   0.98 /* creation times are known only to some milliseconds */
#define HALF	   0.5
#define KEY_BITS   60u

/* All spans of the whole past are used: merge pairs. */
static void clock_merge(struct growth_clock *c)
{
	c->merges = true;
	c->life /= 2;
	c->every *= 2;
	for (unsigned i = 1; i <= c->life; i++)
		c->past_ns[i] = c->past_ns[2 * i];
}

static void clock_next(struct growth_clock *c, uint64_t now_ns)
{
	if (c->recent == GROWTH_RECENT)
		memmove(c->recent_ns, c->recent_ns + 1, sizeof(c->recent_ns) - sizeof(uint64_t));
	c->recent += c->recent < GROWTH_RECENT;
	c->recent_ns[c->recent] = now_ns;
	if (++c->since < c->every)
		return;
	c->since = 0;
	c->ends_life = true;
	c->past_ns[++c->life] = now_ns;
	if (c->life == GROWTH_LIFE)
		clock_merge(c);
}

bool growth_clock_tick(struct growth_clock *c, uint64_t now_ns)
{
	uint64_t began = c->recent_ns[c->recent];

	c->now_ns = now_ns;
	c->ends = c->ends_life = c->merges = false;
	if (!c->started) {
		c->recent_ns[0] = c->past_ns[0] = now_ns;
		c->every = 1;
		c->started = true;
		return false;
	}
	c->ends = now_ns > began && now_ns - began >= SPAN_NS;
	if (c->ends)
		clock_next(c, now_ns);
	return c->ends;
}

static void shift_in(float *values, unsigned n, float value)
{
	memmove(values, values + 1, (n - 1) * sizeof(*values));
	values[n - 1] = value;
}

static void merge(struct growth_site *g)
{
	for (unsigned i = 0; i < GROWTH_LIFE / 2; i++) {
		const float *low = &g->past_low[2 * i], *high = &g->past_high[2 * i];

		g->past_low[i] = low[0] < low[1] ? low[0] : low[1];
		g->past_high[i] = high[0] > high[1] ? high[0] : high[1];
	}
}

void growth_site_span(struct growth_site *g, const struct growth_clock *c)
{
	if (!c->ends)
		return;
	/* Recent spans fill their arrays from the end, spans of the whole past from the start. */
	shift_in(g->recent_low, GROWTH_RECENT, g->low);
	shift_in(g->recent_high, GROWTH_RECENT, g->high);
	g->low = g->high = g->now;
	if (!c->ends_life)
		return;
	g->past_low[c->merges ? GROWTH_LIFE - 1 : c->life - 1] = g->life_low;
	g->past_high[c->merges ? GROWTH_LIFE - 1 : c->life - 1] = g->life_high;
	g->life_low = g->life_high = g->now;
	if (c->merges)
		merge(g);
}

void growth_count_span(struct growth_count *g, const struct growth_clock *c)
{
	if (!c->ends || !c->ends_life)
		return;
	g->past_allocs[c->merges ? GROWTH_LIFE - 1 : c->life - 1] =
		g->allocs > g->life_allocs ? (float)(g->allocs - g->life_allocs) : 0;
	g->life_allocs = g->allocs;
	for (unsigned i = 0; c->merges && i < GROWTH_LIFE / 2; i++)
		g->past_allocs[i] = g->past_allocs[2 * i] + g->past_allocs[2 * i + 1];
}

void growth_site_add(struct growth_site *g, uint64_t live_bytes, bool first)
{
	float now = (float)live_bytes;

	g->now = now;
	if (first)
		g->low = g->life_low = now;
	g->low = now < g->low ? now : g->low;
	g->high = now > g->high ? now : g->high;
	g->life_low = now < g->life_low ? now : g->life_low;
	g->life_high = now > g->life_high ? now : g->life_high;
}

void growth_count_add(struct growth_count *g, uint64_t allocs, bool first)
{
	g->allocs = allocs;
	if (first)
		g->life_allocs = allocs;
}

unsigned growth_spans(const struct growth_count *g, const struct growth_clock *c,
	struct growth_span out[GROWTH_SPANS])
{
	for (unsigned i = 0; i < c->life; i++)
		out[i] = (struct growth_span){ .from_ns = c->past_ns[i],
			.to_ns = c->past_ns[i + 1],
			.allocs = (uint64_t)g->past_allocs[i] };
	out[c->life] = (struct growth_span){ .from_ns = c->past_ns[c->life],
		.to_ns = UINT64_MAX,
		.allocs = g->allocs > g->life_allocs ? g->allocs - g->life_allocs : 0 };
	return c->started ? c->life + 1 : 0;
}

/* ---- judging ------------------------------------------------------------------------------ */

/* Spans of one length, including the current one. */
struct spans {
	float low[GROWTH_LIFE + 1], high[GROWTH_LIFE + 1];
	const uint64_t *began_ns;
	uint64_t now_ns;
	unsigned n;
};

static void spans_recent(struct spans *s, const struct growth_site *g, const struct growth_clock *c)
{
	unsigned n = c->recent;

	memcpy(s->low, g->recent_low + GROWTH_RECENT - n, n * sizeof(float));
	memcpy(s->high, g->recent_high + GROWTH_RECENT - n, n * sizeof(float));
	s->low[n] = g->low;
	s->high[n] = g->high;
	s->n = n + 1;
	s->began_ns = c->recent_ns;
	s->now_ns = c->now_ns;
}

static void spans_life(struct spans *s, const struct growth_site *g, const struct growth_clock *c)
{
	unsigned n = c->life;

	memcpy(s->low, g->past_low, n * sizeof(float));
	memcpy(s->high, g->past_high, n * sizeof(float));
	/* A span that has hardly begun is merged with the one before. */
	if (c->since * 2 >= c->every) {
		s->low[n] = g->life_low;
		s->high[n++] = g->life_high;
	} else if (n > 0) {
		s->low[n - 1] = g->life_low < s->low[n - 1] ? g->life_low : s->low[n - 1];
		s->high[n - 1] = g->life_high > s->high[n - 1] ? g->life_high : s->high[n - 1];
	}
	s->n = n;
	s->began_ns = c->past_ns;
	s->now_ns = c->now_ns;
}

/*
 * The deepest fall that still counts. A rise goes from `base` to `top`; when more than half of it
 * is lost, the next rise begins.
 */
static float spans_fall(const struct spans *s)
{
	float base = s->low[0], top = s->high[0], fall = 0;
	unsigned base_at = 0, top_at = 0;

	for (unsigned i = 1; i < s->n; i++) {
		unsigned counts = FORGET * (top_at - base_at + 1), ago = s->n - 1 - i;
		float lost = top - s->low[i];

		if (lost > fall && (ago <= counts || ago <= FRESH))
			fall = lost;
		if (lost > 0 && s->low[i] <= base + (top - base) / 2) {
			base = s->low[i];
			base_at = top_at = i;
			top = s->high[i];
		}
		if (s->high[i] > top) {
			top = s->high[i];
			top_at = i;
		}
	}
	return fall;
}

/* The part that contains the step from span i of `n` to the next. */
static unsigned part_of(unsigned i, unsigned n)
{
	return i * GROWTH_PARTS / (n - 1);
}

/* The first span whose step is in that part. */
static unsigned part_begin(unsigned part, unsigned n)
{
	return (part * (n - 1) + GROWTH_PARTS - 1) / GROWTH_PARTS;
}

/* The rise over the last `n` spans, by equal parts. Returns the sum. */
static float spans_rise(const struct spans *s, unsigned n, float part[GROWTH_PARTS])
{
	unsigned first = s->n - n;
	float least = s->low[s->n - 1], end = least;

	memset(part, 0, GROWTH_PARTS * sizeof(*part));
	/* From now backwards: the minimum from each span on; a part gets the gain inside it. */
	for (unsigned i = s->n - 1; i-- > first;) {
		float before = least;

		least = s->low[i] < least ? s->low[i] : least;
		part[part_of(i - first, n)] += before - least;
	}
	return end - least;
}

/* Share of the last parts in an even rise over `n` spans. */
static double share_of_last(unsigned n)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < n - 1; i++)
		steps += part_of(i, n) >= GROWTH_PARTS - LAST_PARTS;
	return (double)steps / (n - 1);
}

/* The gain from `from` to `to` quarters of the window. */
static struct snap_gain window_gain(const struct spans *s, unsigned n,
	const float part[GROWTH_PARTS], unsigned from, unsigned to)
{
	unsigned first = s->n - n, a = from * GROWTH_PARTS / 4, b = to * GROWTH_PARTS / 4;
	uint64_t now = s->now_ns;
	float bytes = 0;

	for (unsigned i = a; i < b; i++)
		bytes += part[i];
	return (struct snap_gain){ .oldest_ns = now - s->began_ns[first + part_begin(a, n)],
		.youngest_ns = now - s->began_ns[first + part_begin(b, n)],
		.bytes = (uint64_t)bytes };
}

static struct snap_growth window_judge(const struct spans *s, unsigned n, float doubt)
{
	struct snap_growth g = { 0 };
	float part[GROWTH_PARTS], rise, last = 0;
	double even;

	if (n < LEAST || n > s->n)
		return g;
	rise = spans_rise(s, n, part);
	for (unsigned i = 0; i < GROWTH_PARTS; i++) {
		g.parts += part[i] > rise / TRIFLE;
		if (i >= GROWTH_PARTS - LAST_PARTS)
			last += part[i];
	}
	if (rise <= 0 || last <= doubt || g.parts < GROWTH_PARTS_LEAST)
		return (struct snap_growth){ 0 };
	even = (double)last / (double)rise / share_of_last(n);
	if (even < EVEN)
		return (struct snap_growth){ 0 };
	g.over_ns = s->began_ns[s->n - 1] - s->began_ns[s->n - n]; /* from low to low */
	g.bytes_per_s = g.over_ns ? (double)rise * 1e9 / (double)g.over_ns : 0;
	g.sure = (double)rise / (double)(rise + doubt) * g.parts / GROWTH_PARTS *
		 (even < 1 ? even : 1) * (double)g.over_ns / ((double)g.over_ns + HALF_NS);
	g.fell_bytes = (uint64_t)doubt;
	g.old = window_gain(s, n, part, 0, 2);
	g.middle = window_gain(s, n, part, 2, 3);
	return g;
}

static struct snap_growth surer(struct snap_growth a, struct snap_growth b)
{
	return b.sure > a.sure ? b : a;
}

/* A quick test: no rise over the recent spans, nor since the middle of the past. */
static bool is_still(const struct growth_site *g, const struct growth_clock *c)
{
	float recent = c->recent ? g->recent_low[GROWTH_RECENT - c->recent] : g->low;

	return g->now <= recent && (c->life < 2 || g->now <= g->past_low[c->life / 2]);
}

struct snap_growth growth_judge(
	const struct growth_site *g, const struct growth_clock *c, uint64_t error)
{
	struct snap_growth best = { 0 };
	struct spans recent, life;
	float doubt, fall;

	if (is_still(g, c) || c->recent + 1 < LEAST)
		return best;
	spans_recent(&recent, g, c);
	spans_life(&life, g, c);
	doubt = spans_fall(&recent);
	fall = life.n ? spans_fall(&life) : 0;
	doubt = (doubt > fall ? doubt : fall) + (float)error;
	best = window_judge(&recent, recent.n, doubt);
	for (unsigned n = life.n; n >= LEAST; n /= 2)
		best = surer(best, window_judge(&life, n, doubt));
	return best;
}

/* ---- order -------------------------------------------------------------------------------- */

void growth_kept(struct snap_growth *g, double kept)
{
	g->has_kept = true;
	g->kept = kept;
	g->sure *= DIES_OFF + (1 - DIES_OFF) * kept;
}

enum growth_word growth_word(const struct snap_growth *g)
{
	return g->sure <= 0	   ? GROWTH_NONE
	       : g->sure >= SURE   ? GROWTH_SURE
	       : g->sure >= LIKELY ? GROWTH_LIKELY
				   : GROWTH_MAYBE;
}

const char *growth_word_text(const struct snap_growth *g)
{
	static const char *const word[] = { "no", "maybe", "likely", "sure" };

	return word[growth_word(g)];
}

const char *growth_evidence(const struct snap_growth *g, char buf[GROWTH_EVIDENCE_MAX])
{
	double rise = g->bytes_per_s * (double)g->over_ns / 1e9;
	char text[UNITS_MAX];
	size_t used = (size_t)snprintf(buf, GROWTH_EVIDENCE_MAX, "rose %s",
		g->parts == GROWTH_PARTS       ? "all along"
		: g->parts >= GROWTH_PARTS - 2 ? "most of the time"
					       : "now and then");

	if ((double)g->fell_bytes > rise / (double)TRIFLE)
		used += (size_t)snprintf(buf + used, GROWTH_EVIDENCE_MAX - used,
			", once fell by %s", units_bytes(text, g->fell_bytes));
	if (g->has_kept)
		snprintf(buf + used, GROWTH_EVIDENCE_MAX - used, "; blocks over %s old %s",
			units_duration(text, g->old.youngest_ns),
			g->kept >= ALL	  ? "stay"
			: g->kept >= HALF ? "mostly stay"
					  : "mostly go");
	return buf;
}

/* By word; within a word, sites whose blocks mostly die come last. */
static uint64_t growth_class(const struct snap_growth *g)
{
	return 2 * (uint64_t)growth_word(g) - (g->has_kept && g->kept < HALF);
}

uint64_t growth_rank_key(const struct snap_growth *g)
{
	const uint64_t most = (1ull << KEY_BITS) - 1;
	double key = g->bytes_per_s * 256;
	uint64_t rate = key < 0 ? 0 : key > (double)most ? most : (uint64_t)key;

	return g->sure > 0 ? growth_class(g) << KEY_BITS | rate : 0;
}

static int growth_compare(const void *pa, const void *pb, void *ctx)
{
	const struct snap_site *sites = ctx;
	const struct snap_site *a = &sites[*(const uint32_t *)pa],
			       *b = &sites[*(const uint32_t *)pb];
	uint64_t x = growth_rank_key(&a->growth), y = growth_rank_key(&b->growth);

	if (x != y)
		return x < y ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

size_t growth_rank(const struct snapshot *s, uint32_t *index, size_t max)
{
	size_t n = 0, grow = 0;

	for (size_t i = 0; i < s->nsites; i++) {
		if (s->sites[i].growth.sure <= 0)
			continue;
		grow++;
		if (n < max)
			index[n++] = (uint32_t)i;
	}
	if (n)
		qsort_r(index, n, sizeof(*index), growth_compare,
			(struct snap_site *)(uintptr_t)s->sites);
	return grow;
}
