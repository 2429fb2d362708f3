/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which call sites grow without end, as far as their past can tell. A slope alone says growth of
 * everything that was ever allocated, of each rise of a sawtooth, of a cache that is filling and of
 * one that has long been full. So a site's past is kept as spans of time with the least and the
 * most live bytes in each, and judged by these:
 *
 *   - what it rose by is what it never came down from again: the least from each span to now. A
 *     sawtooth of even teeth has risen by nothing, whatever its last tooth looks like.
 *   - it must have risen in at least GROWTH_PARTS_LEAST of the window's GROWTH_PARTS equal parts,
 * and in the last three of them by more than it is known to fall. One allocation rises once; what
 *     warms up or fills and then levels off does not rise at the end.
 *   - what it gained must last: where blocks of the older part of that time are freed by now, it
 * may be a queue or a cache that turns over, and growth is less sure. That is told by who has
 * looked at the live blocks (src/session/retention.h).
 *   - how deep it fell before counts against it, for three times as long as the rise to that height
 *     took: a tooth that was not seen to be one is found out when it falls, once and for all, while
 *     what was needed at the start only is forgotten in time.
 *
 * Windows are the whole past, its last half and quarter, and some recent seconds; the surest
 * counts. Spans of the whole past become longer as it does, so that all of this is the same few
 * hundred bytes for each site after a minute and after a month. No other state than the two
 * structs.
 */
#ifndef SRC_MODEL_GROWTH_H
#define SRC_MODEL_GROWTH_H

#include "src/model/snapshot.h"

#define GROWTH_RECENT	   16u /* spans of the recent seconds */
#define GROWTH_LIFE	   32u /* of the whole past; when they are used up neighbours merge */
#define GROWTH_PARTS	   SNAP_GROWTH_PARTS
#define GROWTH_PARTS_LEAST 3u

/* When spans begin and end: the same for all sites. Starts as zeros. */
struct growth_clock {
	/* When spans began, the oldest first, the newest, which lasts, behind them. */
	uint64_t recent_ns[GROWTH_RECENT + 1], past_ns[GROWTH_LIFE + 1];
	unsigned recent, life; /* spans that have ended, and are kept */
	unsigned every; /* so many recent spans are one of the whole past */
	unsigned since; /* recent spans in the newest of the whole past */
	uint64_t now_ns; /* of the last tick */
	bool started;
	bool ends, ends_life, merges; /* what growth_clock_tick found */
};

/* Least and most live bytes of spans, the oldest first. Starts as zeros: it had nothing before. */
struct growth_site {
	float low, high, life_low, life_high; /* of the newest spans, which last */
	float now;
	float recent_low[GROWTH_RECENT], recent_high[GROWTH_RECENT];
	float past_low[GROWTH_LIFE], past_high[GROWTH_LIFE];
	uint64_t allocs, life_allocs; /* so far, and when the newest span of the whole past began */
	float past_allocs[GROWTH_LIFE]; /* in each of them */
};

/* At each tick first. True: growth_site_span is due for every site. */
bool growth_clock_tick(struct growth_clock *c, uint64_t now_ns);
/* A span has ended. */
void growth_site_span(struct growth_site *g, const struct growth_clock *c);
/* What it has now. `first`: at the first tick of all; it may have had that before. */
void growth_site_add(struct growth_site *g, uint64_t live_bytes, bool first);
/* What it has allocated so far. `first`: as above. */
void growth_site_count(struct growth_site *g, uint64_t allocs, bool first);

/* Blocks allocated in a span of the whole past. */
struct growth_span {
	uint64_t from_ns, to_ns; /* of the clock's times; UINT64_MAX: it lasts */
	uint64_t allocs;
};
#define GROWTH_SPANS (GROWTH_LIFE + 1)
/* The spans, the oldest first: how many. What was allocated before is in none. */
unsigned growth_spans(const struct growth_site *g, const struct growth_clock *c,
	struct growth_span out[GROWTH_SPANS]);
/* `error`: how far live bytes may be off. `sure` of the result is 0 for what does not grow. */
struct snap_growth growth_judge(
	const struct growth_site *g, const struct growth_clock *c, uint64_t error);

/*
 * It was looked how much of what it gained is still alive: `kept` of 1. Where that dies off it is
 * less sure that growth goes on.
 */
void growth_kept(struct snap_growth *g, double kept);
/* How sure it is, in a word that says no more than is known: "sure", "likely", "maybe". */
enum growth_word { GROWTH_NONE, GROWTH_MAYBE, GROWTH_LIKELY, GROWTH_SURE };
enum growth_word growth_word(const struct snap_growth *g);
const char *growth_word_text(const struct snap_growth *g);
/* What speaks for it and against it, for people: at most GROWTH_EVIDENCE_MAX bytes. */
#define GROWTH_EVIDENCE_MAX 96
const char *growth_evidence(const struct snap_growth *g, char buf[GROWTH_EVIDENCE_MAX]);

/*
 * Larger is worse: what is surer, by that word; of those what lasts; and then what grows faster. 0:
 * it does not grow.
 */
uint64_t growth_rank_key(const struct snap_growth *g);
/*
 * The sites of a snapshot that grow, the worst first. Fills at most `max` indices into s->sites;
 * returns how many there are.
 */
size_t growth_rank(const struct snapshot *s, uint32_t *index, size_t max);

#endif
